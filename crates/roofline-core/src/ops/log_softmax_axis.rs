//! `log-softmax-axis`: [`log_softmax`](super::log_softmax) over the middle one of three dimensions.

use super::{log_softmax, softmax_axis};
use crate::operation::family::rowwise::MIDDLE;
use crate::operation::{Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "log-softmax-axis",
    about: "y = x - max(x) - ln(sum(exp(x - max(x)))) over the middle dimension of x[outer,length,inner]",
    variants: &[Variant { name: "", about: "the plain form" }],
    axes: MIDDLE,
    tensors: softmax_axis::OPERATION.tensors,
    ..log_softmax::OPERATION
};
