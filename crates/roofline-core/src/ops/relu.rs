//! `relu`: y = max(x, 0), element by element; NaN stays NaN.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "relu",
    about: "y = max(x, 0)",
    judged: Judged::Elementwise(|e| e.x(0).max(e.number(0.0))),
    ..elementwise::UNARY
};
