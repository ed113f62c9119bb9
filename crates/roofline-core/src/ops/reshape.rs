//! `reshape`: the elements of x in another shape. Nothing needs to move, so what is timed is what a library takes to say so.

use crate::case::Case;
use crate::fill::Fill;
use crate::operation::family::movement::{self, Movement};
use crate::operation::{Judged, Mutant, Operation, Work, Wrong};
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
    mutants: &[Mutant {
        name: "transposed",
        fill: Fill::Uniform,
        of: |case| case.axis("rows") > 1 && case.axis("cols") > 1,
        wrong: Wrong::Formula(Judged::Movement(Movement {
            from: |case, _, index| (0, transposed(case, index)),
            to: |_, _, element| movement::one(0, element),
        })),
    }],
    ..movement::UNARY
};

/// Where an element of y[cols,rows] stands in x, were it the other way round.
fn transposed(case: &Case, index: usize) -> usize {
    let (rows, cols) = (case.axis("rows"), case.axis("cols"));
    index % rows * cols + index / rows
}
