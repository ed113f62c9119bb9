//! `sub`: z = x − y, element by element.

use crate::fill::Fill;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "sub",
    about: "z = x - y",
    judged: Judged::Elementwise(|e| e.x(0) - e.x(1)),
    mutants: &[mutant("difference the other way round", Fill::Uniform, |e| e.x(1) - e.x(0))],
    ..elementwise::BINARY
};
