//! `gelu`: y = x · Φ(x), element by element, with the error function: what PyTorch calls gelu.

use super::{gelu_quick, gelu_tanh};
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};
use std::f64::consts::FRAC_1_SQRT_2;

pub const OPERATION: Operation = Operation {
    name: "gelu",
    also: &["gelu-erf"],
    about: "y = x · (1 + erf(x / √2)) / 2",
    tensors: |case| elementwise::unary(case, 1000.0),
    judged: Judged::Elementwise(|e| formula(e.x(0))),
    // Forms differ most where x is about -3.
    mutants: &[
        mutant("the form with tanh", Fill::Normal, |e| gelu_tanh::formula(e.x(0))),
        mutant("the quick form", Fill::Normal, |e| gelu_quick::formula(e.x(0))),
    ],
    ..elementwise::UNARY
};

pub(super) fn formula(x: Number) -> Number {
    x * 0.5 * ((x * FRAC_1_SQRT_2).erf() + 1.0)
}
