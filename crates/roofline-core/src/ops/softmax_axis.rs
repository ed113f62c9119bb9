//! `softmax-axis`: softmax over the middle one of three dimensions, as which any axis of any tensor can be seen.

use super::softmax::{LIMIT, VECTOR, around};
use crate::fill::Fill;
use crate::operation::family::{Along, Rowwise, rowwise};
use crate::operation::{Judged, Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "softmax-axis",
    about: "y = exp(x - max(x)) / sum(exp(x - max(x))) over the middle dimension of x[outer,length,inner]",
    axes: rowwise::MIDDLE,
    tensors: |case| {
        let shape = ["outer", "length", "inner"].map(|axis| case.axis(axis));
        let x = Tensor::input("x", case.dtype(), &shape).running(1).limit(LIMIT);
        vec![x, Tensor::output("y", case.precision.output, &shape)]
    },
    judged: lines(|line, _| around(line, line.max(&line.all(0)), |_, sum| sum)),
    mutants: &[
        mutant("maximum not subtracted", Fill::Extreme, |line, _| {
            around(line, line.number(0.0), |_, sum| sum)
        }),
        mutant("maximum from zero", Fill::Planted, |line, _| {
            around(line, line.max(&line.all(0)).max(line.number(0.0)), |_, sum| sum)
        }),
        mutant("maximum without the last vector", Fill::Planted, |line, _| {
            let x = line.all(0);
            around(line, line.max(&x[..x.len().saturating_sub(VECTOR).max(1)]), |_, sum| sum)
        }),
    ],
    ..rowwise::UNARY
};

const fn lines(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along: |_, _, _| Along::Whole, dimension: |_| 1 })
}

const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(lines(formula)), of: |_| true }
}
