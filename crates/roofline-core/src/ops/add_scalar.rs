//! `add-scalar`: y = x + s, element by element.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "add-scalar",
    about: "y = x + s",
    params: &[elementwise::SCALAR],
    judged: Judged::Elementwise(|e| e.x(0) + e.param("scalar")),
    ..elementwise::UNARY
};
