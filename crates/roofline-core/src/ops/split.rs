//! `split`: the rows of x in two parts.

use super::cat;
use crate::case::Case;
use crate::fill::Fill;
use crate::operation::family::movement::{self, Movement};
use crate::operation::{Judged, Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "split",
    about: "y = the first columns of x, z = the others",
    axes: cat::AXES,
    tensors: |case| {
        let (rows, cols, more) = cat::sizes(case);
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols + more]),
            Tensor::output("y", case.precision.output, &[rows, cols]),
            Tensor::output("z", case.precision.output, &[rows, more]),
        ]
    },
    judged: moved(|case, output, index| (0, cat::place(case, output, index))),
    mutants: &[Mutant {
        name: "second part one early",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(moved(|case, output, index| (0, cat::place(case, output, index) - output))),
    }],
    ..movement::UNARY
};

const fn moved(from: fn(&Case, usize, usize) -> (usize, usize)) -> Judged {
    let to = |case: &Case, _, element| {
        let (_, cols, more) = cat::sizes(case);
        let (row, column) = (element / (cols + more), element % (cols + more));
        if column < cols {
            movement::one(0, row * cols + column)
        } else {
            movement::one(1, row * more + column - cols)
        }
    };
    Judged::Movement(Movement { from, to })
}
