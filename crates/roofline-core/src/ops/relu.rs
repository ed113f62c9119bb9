//! `relu`: y = max(x, 0), element by element; NaN stays NaN.

use crate::fill::Fill;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "relu",
    about: "y = max(x, 0)",
    judged: Judged::Elementwise(|e| e.x(0).max(e.number(0.0))),
    mutants: &[
        mutant("magnitude", Fill::Uniform, |e| e.x(0).abs()),
        mutant("remainder as it was", Fill::Uniform, |e| {
            if e.is_remainder() { e.x(0) } else { e.x(0).max(e.number(0.0)) }
        }),
    ],
    ..elementwise::UNARY
};
