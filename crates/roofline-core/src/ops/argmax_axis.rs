//! `argmax-axis`: [`argmax`](super::argmax) over the middle one of three dimensions.

use super::argmax;
use crate::dtype::Dtype;
use crate::operation::Operation;
use crate::operation::family::rowwise::MIDDLE;
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "argmax-axis",
    about: "y[outer,inner] = the place of max(x) along the middle dimension of x[outer,length,inner]",
    axes: MIDDLE,
    tensors: |case| {
        let [outer, length, inner] = ["outer", "length", "inner"].map(|axis| case.axis(axis));
        vec![
            Tensor::input("x", case.dtype(), &[outer, length, inner]).running(1).rising(16.0),
            Tensor::output("y", Dtype::I32, &[outer, inner]).beside(&[outer, 1, inner]),
        ]
    },
    ..argmax::OPERATION
};
