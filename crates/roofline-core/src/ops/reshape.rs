//! `reshape`: the elements of x in another shape. Nothing needs to move, so what is timed is what a library takes to say so.

use crate::operation::family::movement;
use crate::operation::{Operation, Work};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "reshape",
    also: &["view", "flatten", "squeeze", "unsqueeze"],
    about: "y[cols,rows] is x[rows,cols], element after element",
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).read_in_part(0),
            Tensor::output("y", case.precision.output, &[cols, rows]),
        ]
    },
    work: |_| Work::default(),
    ..movement::UNARY
};
