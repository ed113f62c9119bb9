//! `dot`: the sum of the products of two vectors.

use crate::fill::Fill;
use crate::operation::family::rowwise::{self, mutant};
use crate::operation::{Axis, Operation};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "dot",
    about: "z = sum(x · y)",
    axes: &[Axis::new("n", "length of the vectors")],
    tensors: |case| {
        let n = case.axis("n");
        let limit = (case.precision.accumulator.max_finite() / n.max(1) as f64).sqrt() / 4.0;
        let vector =
            |name| Tensor::input(name, case.dtype(), &[n]).limit(limit).step(rowwise::visible(case, 2 * n));
        vec![vector("x"), vector("y"), Tensor::output("z", case.precision.output, &[1])]
    },
    judged: rowwise::reduction(|line, _| vec![line.dot(0, 1)]),
    mutants: &[mutant("remainder left out", Fill::Planted, |line, _| {
        let products = line.each(0).zip(line.each(1)).map(|(x, y)| x * y);
        vec![line.sum_each(products.take(line.len().saturating_sub(3)))]
    })],
    ..rowwise::UNARY
};
