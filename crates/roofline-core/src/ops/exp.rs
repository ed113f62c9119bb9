//! `exp`: y = eˣ, element by element.

use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "exp",
    about: "y = eˣ",
    // As far as the accumulator holds what comes out.
    tensors: |case| elementwise::unary(case, 0.99 * case.precision.accumulator.max_finite().ln()),
    judged: Judged::Elementwise(|e| e.x(0).exp()),
    mutants: &[
        mutant("256 times the same factor", Fill::Normal, |e| same_factor(e.x(0))),
        mutant("nothing below -10", Fill::Extreme, |e| {
            if e.raw(0) < -10.0 { e.number(0.0) } else { e.x(0).exp() }
        }),
    ],
    ..elementwise::UNARY
};

/// (1 + x / 256)²⁵⁶, which some take for eˣ: off by x² / 512.
pub(super) fn same_factor(x: Number) -> Number {
    (x / 256.0 + 1.0).pow(256.0)
}
