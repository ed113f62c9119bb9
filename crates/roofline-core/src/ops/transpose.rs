//! `transpose`: y[j,i] = x[i,j].

use crate::case::Case;
use crate::fill::Fill;
use crate::operation::family::movement::{self, Movement};
use crate::operation::{Judged, Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "transpose",
    about: "y[j,i] = x[i,j]",
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]),
            Tensor::output("y", case.precision.output, &[cols, rows]),
        ]
    },
    judged: moved(|case, _, index| (0, across(index, case.axis("rows"), case.axis("cols")))),
    mutants: &[Mutant {
        name: "remainder left as it was",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(moved(|case, _, index| {
            let (rows, cols) = (case.axis("rows"), case.axis("cols"));
            (0, if index % rows + 3 < rows { across(index, rows, cols) } else { index })
        })),
    }],
    ..movement::UNARY
};

const fn moved(from: fn(&Case, usize, usize) -> (usize, usize)) -> Judged {
    let to =
        |case: &Case, _, element| movement::one(0, across(element, case.axis("cols"), case.axis("rows")));
    Judged::Movement(Movement { from, to })
}

/// Where an element of a matrix with rows of this length stands in its transpose.
fn across(index: usize, row: usize, other: usize) -> usize {
    index % row * other + index / row
}
