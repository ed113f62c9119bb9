//! `div`: z = x / y, element by element, as IEEE divides.

use crate::fill::Fill;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "div",
    about: "z = x / y",
    judged: Judged::Elementwise(|e| e.x(0) / e.x(1)),
    mutants: &[
        mutant("quotient the other way round", Fill::Uniform, |e| e.x(1) / e.x(0)),
        mutant("remainder multiplied", Fill::Uniform, |e| {
            if e.is_remainder() { e.x(0) * e.x(1) } else { e.x(0) / e.x(1) }
        }),
    ],
    ..elementwise::BINARY
};
