//! `sigmoid`: y = 1 / (1 + e⁻ˣ), element by element.

use super::{Judged, Operation};
use crate::family::elementwise;

pub const OPERATION: Operation = Operation {
    name: "sigmoid",
    about: "y = 1 / (1 + e⁻ˣ)",
    tensors: |case| elementwise::unary(case, 80.0),
    judged: Judged::Elementwise(|e| e.x(0).sigmoid()),
    ..elementwise::UNARY
};
