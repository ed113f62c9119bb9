//! `tanh`: y = tanh(x), element by element.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Wrong};

pub const OPERATION: Operation = Operation {
    name: "tanh",
    about: "y = tanh(x)",
    judged: Judged::Elementwise(|e| e.x(0).tanh()),
    mutants: &[Mutant {
        name: "quotient that overflows",
        fill: Fill::Extreme,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Elementwise(|e| {
            let power = (e.x(0) * 2.0).exp();
            (power - 1.0) / (power + 1.0)
        })),
    }],
    ..elementwise::UNARY
};
