//! `add-scalar`: y = x + s, element by element.

use crate::fill::Fill;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Mutant, Operation};

pub const OPERATION: Operation = Operation {
    name: "add-scalar",
    about: "y = x + s",
    params: &[elementwise::SCALAR],
    judged: Judged::Elementwise(|e| e.x(0) + e.param("scalar")),
    mutants: &[Mutant {
        of: |case| case.param("scalar") != 0.0,
        ..mutant("remainder as it was", Fill::Uniform, |e| {
            if e.is_remainder() { e.x(0) } else { e.x(0) + e.param("scalar") }
        })
    }],
    ..elementwise::UNARY
};
