//! `stack`: x and y along a new first dimension.

use crate::case::Case;
use crate::fill::Fill;
use crate::operation::family::movement::{self, Movement};
use crate::operation::{Judged, Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "stack",
    about: "z[0] = x, z[1] = y",
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]),
            Tensor::input("y", case.dtype(), &[rows, cols]),
            Tensor::output("z", case.precision.output, &[2, rows, cols]),
        ]
    },
    judged: moved(|case, _, index| (index / elements(case), index % elements(case))),
    mutants: &[Mutant {
        name: "rows in turn",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(moved(|case, _, index| {
            let (row, cols) = (index / case.axis("cols"), case.axis("cols"));
            (row % 2, row / 2 * cols + index % cols)
        })),
    }],
    ..movement::UNARY
};

const fn moved(from: fn(&Case, usize, usize) -> (usize, usize)) -> Judged {
    let to = |case: &Case, tensor, element| movement::one(0, tensor * elements(case) + element);
    Judged::Movement(Movement { from, to })
}

fn elements(case: &Case) -> usize {
    case.axis("rows") * case.axis("cols")
}
