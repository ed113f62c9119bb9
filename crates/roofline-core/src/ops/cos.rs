//! `cos`: y = cos(x), element by element; angles of up to 10⁴.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Wrong};

pub const OPERATION: Operation = Operation {
    name: "cos",
    about: "y = cos(x)",
    tensors: |case| elementwise::unary(case, 1e4),
    judged: Judged::Elementwise(|e| e.x(0).cos()),
    mutants: &[Mutant {
        name: "series that ends too soon",
        fill: Fill::Normal,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Elementwise(|e| 1.0 - e.x(0) * e.x(0) / 2.0)),
    }],
    ..elementwise::UNARY
};
