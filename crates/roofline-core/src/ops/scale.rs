//! `scale`: y = s · x, element by element.

use super::{Judged, Operation};
use crate::family::elementwise;

pub const OPERATION: Operation = Operation {
    name: "scale",
    also: &["mul-scalar"],
    about: "y = s · x",
    params: &[elementwise::SCALAR],
    judged: Judged::Elementwise(|e| e.x(0) * e.param("scalar")),
    ..elementwise::UNARY
};
