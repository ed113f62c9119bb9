//! `gelu-quick`: y = x · sigmoid(1.702 · x), element by element.

use super::gelu;
use super::sigmoid::SATURATED;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "gelu-quick",
    about: "y = x · sigmoid(1.702 · x)",
    tensors: |case| elementwise::unary(case, SATURATED),
    judged: Judged::Elementwise(|e| formula(e.x(0))),
    mutants: &[
        mutant("the form with erf", Fill::Normal, |e| gelu::formula(e.x(0))),
        mutant("factor forgotten", Fill::Normal, |e| e.x(0) * e.x(0).sigmoid()),
    ],
    ..elementwise::UNARY
};

pub(super) fn formula(x: Number) -> Number {
    x * (x * 1.702).sigmoid()
}
