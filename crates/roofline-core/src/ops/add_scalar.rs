//! `add-scalar`: y = x + s, element by element.

use super::{Judged, Operation};
use crate::family::elementwise;

pub const OPERATION: Operation = Operation {
    name: "add-scalar",
    about: "y = x + s",
    params: &[elementwise::SCALAR],
    judged: Judged::Elementwise(|e| e.x(0) + e.param("scalar")),
    ..elementwise::UNARY
};
