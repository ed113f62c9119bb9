//! `max-axis`: [`max`](super::max) over the middle one of three dimensions, as which any axis of any tensor can be seen.

use super::max;
use crate::operation::family::rowwise::MIDDLE;
use crate::operation::{Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "max-axis",
    about: "y = max(x) over the middle dimension of x[outer,length,inner]",
    variants: &[Variant { name: "", about: "y[outer,inner]" }],
    axes: MIDDLE,
    ..max::OPERATION
};
