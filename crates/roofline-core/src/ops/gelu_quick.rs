//! `gelu-quick`: y = x · sigmoid(1.702 · x), element by element.

use super::gelu;
use crate::number::Number;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "gelu-quick",
    about: "y = x · sigmoid(1.702 · x)",
    tensors: |case| elementwise::unary(case, 50.0),
    judged: Judged::Elementwise(|e| formula(e.x(0))),
    mutants: &[
        gelu::mutant("the form with erf", |e| gelu::formula(e.x(0))),
        gelu::mutant("factor forgotten", |e| e.x(0) * e.x(0).sigmoid()),
    ],
    ..elementwise::UNARY
};

pub(super) fn formula(x: Number) -> Number {
    x * (x * 1.702).sigmoid()
}
