//! `gelu-tanh`: gelu with a tanh in place of the error function, element by element.

use super::gelu;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "gelu-tanh",
    about: "y = x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) / 2",
    tensors: |case| elementwise::unary(case, 1000.0),
    judged: Judged::Elementwise(|e| formula(e.x(0))),
    mutants: &[
        mutant("the form with erf", Fill::Normal, |e| gelu::formula(e.x(0))),
        mutant("cube forgotten", Fill::Normal, |e| e.x(0) * 0.5 * ((e.x(0) * SCALE).tanh() + 1.0)),
    ],
    ..elementwise::UNARY
};

/// √(2/π)
const SCALE: f64 = 0.797_884_560_802_865_4;

pub(super) fn formula(x: Number) -> Number {
    let argument = (x + x * x * x * 0.044715) * SCALE;
    x * 0.5 * (argument.tanh() + 1.0)
}
