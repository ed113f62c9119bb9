//! `silu`: y = x · sigmoid(x), element by element; also called swish.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "silu",
    also: &["swish"],
    about: "y = x / (1 + e⁻ˣ)",
    tensors: |case| elementwise::unary(case, 80.0),
    judged: Judged::Elementwise(|e| e.x(0) / ((-e.x(0)).exp() + 1.0)),
    ..elementwise::UNARY
};
