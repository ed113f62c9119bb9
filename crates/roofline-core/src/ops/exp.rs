//! `exp`: y = eˣ, element by element.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "exp",
    about: "y = eˣ",
    tensors: |case| elementwise::unary(case, 80.0),
    judged: Judged::Elementwise(|e| e.x(0).exp()),
    ..elementwise::UNARY
};
