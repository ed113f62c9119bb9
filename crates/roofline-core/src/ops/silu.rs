//! `silu`: y = x · sigmoid(x), element by element; also called swish.

use super::sigmoid::{SATURATED, overflowing};
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "silu",
    also: &["swish"],
    about: "y = x / (1 + e⁻ˣ)",
    tensors: |case| elementwise::unary(case, SATURATED),
    judged: Judged::Elementwise(|e| silu(e.x(0))),
    mutants: &[
        mutant("quotient that overflows", Fill::Extreme, |e| e.x(0) * overflowing(e.x(0))),
        mutant("x left out", Fill::Uniform, |e| e.x(0).sigmoid()),
    ],
    ..elementwise::UNARY
};

pub(super) fn silu(x: Number) -> Number {
    x / ((-x).exp() + 1.0)
}
