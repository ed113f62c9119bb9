//! `negate`: y = -x, element by element.

use super::{Judged, Mutant, Operation, Wrong};
use crate::family::elementwise;
use crate::fill::Fill;

pub const OPERATION: Operation = Operation {
    name: "negate",
    about: "y = -x",
    judged: Judged::Elementwise(|e| -e.x(0)),
    mutants: &[Mutant {
        name: "remainder not negated",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Elementwise(|e| if e.is_remainder() { e.x(0) } else { -e.x(0) })),
    }],
    ..elementwise::UNARY
};
