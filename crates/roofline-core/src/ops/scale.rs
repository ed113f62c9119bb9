//! `scale`: y = s · x, element by element.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation};

pub const OPERATION: Operation = Operation {
    name: "scale",
    also: &["mul-scalar"],
    about: "y = s · x",
    params: &[elementwise::SCALAR],
    judged: Judged::Elementwise(|e| e.x(0) * e.param("scalar")),
    ..elementwise::UNARY
};
