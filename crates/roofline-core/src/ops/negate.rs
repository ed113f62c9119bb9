//! `negate`: y = -x, element by element.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Wrong};

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
