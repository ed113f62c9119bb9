//! `cat`: the rows of x, each followed by that of y.

use crate::case::Case;
use crate::fill::Fill;
use crate::operation::family::movement::{self, Movement};
use crate::operation::{Axis, Judged, Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "cat",
    about: "z = each row of x, then that of y",
    axes: AXES,
    tensors: |case| {
        let (rows, cols, more) = sizes(case);
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]),
            Tensor::input("y", case.dtype(), &[rows, more]),
            Tensor::output("z", case.precision.output, &[rows, cols + more]),
        ]
    },
    judged: moved(|case, _, index| joined(case, index, 0)),
    mutants: &[Mutant {
        name: "second part one early",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(moved(|case, _, index| joined(case, index, 1))),
    }],
    ..movement::UNARY
};

pub(super) const AXES: &[Axis] = &[
    Axis::new("rows", "rows of each tensor"),
    Axis::new("cols", "columns of the first part"),
    Axis::new("more", "columns of the second part"),
];

pub(super) fn sizes(case: &Case) -> (usize, usize, usize) {
    (case.axis("rows"), case.axis("cols"), case.axis("more"))
}

const fn moved(from: fn(&Case, usize, usize) -> (usize, usize)) -> Judged {
    let to = |case: &Case, tensor, element| movement::one(0, place(case, tensor, element));
    Judged::Movement(Movement { from, to })
}

/// Where an element of a part stands in the whole.
pub(super) fn place(case: &Case, part: usize, element: usize) -> usize {
    let (_, cols, more) = sizes(case);
    let (length, first) = [(cols, 0), (more, cols)][part];
    element / length * (cols + more) + first + element % length
}

/// The part that an element of the whole is in, and where, if the second begins so many columns early.
fn joined(case: &Case, index: usize, early: usize) -> (usize, usize) {
    let (_, cols, more) = sizes(case);
    let (row, column) = (index / (cols + more), index % (cols + more) + early);
    if column < cols {
        (0, row * cols + column - early)
    } else {
        (1, row * more + (column - cols).min(more - 1))
    }
}
