//! `copy`: y = x.

use super::{Judged, Mutant, Operation, Wrong};
use crate::family::movement::{self, Movement};
use crate::fill::Fill;

pub const OPERATION: Operation = Operation {
    name: "copy",
    about: "y = x",
    mutants: &[Mutant {
        name: "the last three from the vector before",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Movement(Movement {
            from: |case, _, index| {
                let is_last = index + 3 >= case.axis("rows") * case.axis("cols");
                (0, if is_last { index.saturating_sub(3) } else { index })
            },
            to: |_, _, element| movement::one(0, element),
        })),
    }],
    ..movement::UNARY
};
