//! `sqrt`: y = √x, element by element.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Wrong};

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
