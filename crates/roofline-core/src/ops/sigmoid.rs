//! `sigmoid`: y = 1 / (1 + e⁻ˣ), element by element.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "sigmoid",
    about: "y = 1 / (1 + e⁻ˣ)",
    tensors: |case| elementwise::unary(case, 80.0),
    judged: Judged::Elementwise(|e| e.x(0).sigmoid()),
    ..elementwise::UNARY
};
