//! `div`: z = x / y, element by element, as IEEE divides.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "div",
    about: "z = x / y",
    judged: Judged::Elementwise(|e| e.x(0) / e.x(1)),
    ..elementwise::BINARY
};
