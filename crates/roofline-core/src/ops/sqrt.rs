//! `sqrt`: y = √x, element by element.

use super::{Judged, Mutant, Operation, Wrong};
use crate::family::elementwise;
use crate::fill::Fill;

pub const OPERATION: Operation = Operation {
    name: "sqrt",
    about: "y = √x",
    tensors: |case| elementwise::within(case, 0.01, 10.0),
    judged: Judged::Elementwise(|e| e.x(0).sqrt()),
    mutants: &[Mutant {
        name: "reciprocal of the root",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Elementwise(|e| 1.0 / e.x(0).sqrt())),
    }],
    ..elementwise::UNARY
};
