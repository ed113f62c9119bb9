//! `scale`: y = s · x, element by element.

use crate::fill::Fill;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Mutant, Operation};

pub const OPERATION: Operation = Operation {
    name: "scale",
    also: &["mul-scalar"],
    about: "y = s · x",
    params: &[elementwise::SCALAR],
    judged: Judged::Elementwise(|e| e.x(0) * e.param("scalar")),
    mutants: &[Mutant {
        of: |case| case.param("scalar") != 1.0,
        ..mutant("remainder as it was", Fill::Uniform, |e| {
            if e.is_remainder() { e.x(0) } else { e.x(0) * e.param("scalar") }
        })
    }],
    ..elementwise::UNARY
};
