//! `logsumexp-axis`: [`logsumexp`](super::logsumexp) over the middle one of three dimensions, as which any axis of any tensor can be seen.

use super::logsumexp;
use crate::operation::family::rowwise::MIDDLE;
use crate::operation::{Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "logsumexp-axis",
    about: "y = ln(sum(exp(x))) over the middle dimension of x[outer,length,inner]",
    variants: &[Variant { name: "", about: "y[outer,inner]" }],
    axes: MIDDLE,
    ..logsumexp::OPERATION
};
