//! `mul`: z = x · y, element by element.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "mul",
    about: "z = x · y",
    judged: Judged::Elementwise(|e| e.x(0) * e.x(1)),
    ..elementwise::BINARY
};
