//! `mul`: z = x · y, element by element.

use crate::fill::Fill;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "mul",
    about: "z = x · y",
    judged: Judged::Elementwise(|e| e.x(0) * e.x(1)),
    mutants: &[mutant("remainder added", Fill::Uniform, |e| {
        if e.is_remainder() { e.x(0) + e.x(1) } else { e.x(0) * e.x(1) }
    })],
    ..elementwise::BINARY
};
