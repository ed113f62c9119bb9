//! `sigmoid`: y = 1 / (1 + e⁻ˣ), element by element.

use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "sigmoid",
    about: "y = 1 / (1 + e⁻ˣ)",
    tensors: |case| elementwise::unary(case, SATURATED),
    judged: Judged::Elementwise(|e| e.x(0).sigmoid()),
    mutants: &[mutant("quotient that overflows", Fill::Extreme, |e| overflowing(e.x(0)))],
    ..elementwise::UNARY
};

/// How far the inputs of functions go that end in a straight line: e⁻ˣ overflows long before.
pub(super) const SATURATED: f64 = 1e4;

/// eˣ / (eˣ + 1): the same, until eˣ overflows.
pub(super) fn overflowing(x: Number) -> Number {
    let power = x.exp();
    power / (power + 1.0)
}
