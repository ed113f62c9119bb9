//! `copy`: y = x.

use crate::fill::Fill;
use crate::operation::family::movement::{self, Movement};
use crate::operation::{Judged, Mutant, Operation, Wrong};

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
