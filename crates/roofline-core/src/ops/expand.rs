//! `expand`: x again and again along a new first dimension.

use crate::case::Case;
use crate::fill::Fill;
use crate::operation::Reach;
use crate::operation::family::movement::{self, Movement};
use crate::operation::{Axis, Judged, Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "expand",
    also: &["broadcast-to"],
    about: "y[i,j,k] = x[j,k]",
    axes: &[
        Axis::new("copies", "how often x is there"),
        Axis::new("rows", "rows of x"),
        Axis::new("cols", "columns of x"),
    ],
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]),
            Tensor::output("y", case.precision.output, &[case.axis("copies"), rows, cols]),
        ]
    },
    judged: moved(|case, _, index| (0, index % elements(case))),
    mutants: &[Mutant {
        name: "every element again and again",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(moved(|case, _, index| (0, index / case.axis("copies")))),
    }],
    ..movement::UNARY
};

const fn moved(from: fn(&Case, usize, usize) -> (usize, usize)) -> Judged {
    let to = |case: &Case, _, element| {
        vec![Reach { output: 0, first: element, step: elements(case), count: case.axis("copies") }]
    };
    Judged::Movement(Movement { from, to })
}

fn elements(case: &Case) -> usize {
    case.axis("rows") * case.axis("cols")
}
