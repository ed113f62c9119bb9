//! `add`: z = x + y, element by element.
//!
//! One addition and three streams: nothing beyond the output rounding is allowed.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Wrong};

pub const OPERATION: Operation = Operation {
    name: "add",
    about: "z = x + y",
    judged: Judged::Elementwise(|e| e.x(0) + e.x(1)),
    mutants: &[Mutant {
        name: "remainder added twice",
        fill: Fill::Uniform,
        wrong: Wrong::Formula(Judged::Elementwise(|e| {
            let sum = e.x(0) + e.x(1);
            if e.is_remainder() { sum + e.x(1) } else { sum }
        })),
        of: |_| true,
    }],
    ..elementwise::BINARY
};
