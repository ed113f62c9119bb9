//! `log`: y = ln(x), element by element.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Wrong};

pub const OPERATION: Operation = Operation {
    name: "log",
    also: &["ln"],
    about: "y = ln(x)",
    tensors: |case| elementwise::within(case, 0.01, 10.0),
    judged: Judged::Elementwise(|e| e.x(0).ln()),
    mutants: &[Mutant {
        name: "logarithm to base 2",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Elementwise(|e| e.x(0).ln() / std::f64::consts::LN_2)),
    }],
    ..elementwise::UNARY
};
