//! `silu`: y = x · sigmoid(x), element by element; also called swish.

use crate::number::Number;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "silu",
    also: &["swish"],
    about: "y = x / (1 + e⁻ˣ)",
    tensors: |case| elementwise::unary(case, 80.0),
    judged: Judged::Elementwise(|e| silu(e.x(0))),
    ..elementwise::UNARY
};

pub(super) fn silu(x: Number) -> Number {
    x / ((-x).exp() + 1.0)
}
