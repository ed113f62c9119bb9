//! `sin`: y = sin(x), element by element; angles of up to 10⁴.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Wrong};

pub const OPERATION: Operation = Operation {
    name: "sin",
    about: "y = sin(x)",
    tensors: |case| elementwise::unary(case, 1e4),
    judged: Judged::Elementwise(|e| e.x(0).sin()),
    mutants: &[Mutant {
        name: "series that ends too soon",
        fill: Fill::Normal,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Elementwise(|e| {
            let x = e.x(0);
            x * (1.0 - x * x / 6.0)
        })),
    }],
    ..elementwise::UNARY
};
