//! `mean-axis`: [`mean`](super::mean) over the middle one of three dimensions, as which any axis of any tensor can be seen.

use super::mean;
use crate::operation::family::rowwise::MIDDLE;
use crate::operation::{Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "mean-axis",
    about: "y = sum(x) / length over the middle dimension of x[outer,length,inner]",
    variants: &[Variant { name: "", about: "y[outer,inner]" }],
    axes: MIDDLE,
    ..mean::OPERATION
};
