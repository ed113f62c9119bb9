//! `permute`: the dimensions of x in another order.

use crate::case::Case;
use crate::fill::Fill;
use crate::operation::family::movement::{self, Movement};
use crate::operation::{Axis, Judged, Mutant, Operation, Variant, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "permute",
    about: "y = x with its dimensions in another order",
    variants: &[
        Variant { name: "", about: "y[c,b,a] = x[a,b,c]" },
        Variant { name: "021", about: "y[a,c,b] = x[a,b,c]" },
        Variant { name: "102", about: "y[b,a,c] = x[a,b,c]" },
        Variant { name: "120", about: "y[b,c,a] = x[a,b,c]" },
        Variant { name: "201", about: "y[c,a,b] = x[a,b,c]" },
    ],
    axes: &[
        Axis::new("a", "first dimension of x"),
        Axis::new("b", "second dimension of x"),
        Axis::new("c", "last dimension of x"),
    ],
    tensors: |case| {
        let shape = shape(case);
        vec![
            Tensor::input("x", case.dtype(), &shape),
            Tensor::output("y", case.precision.output, &order(case).map(|dimension| shape[dimension])),
        ]
    },
    judged: moved(|case, _, index| (0, source(case, index))),
    mutants: &[Mutant {
        name: "remainder left as it was",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(moved(|case, _, index| {
            let cols = shape(case)[order(case)[2]];
            (0, if index % cols + 3 < cols { source(case, index) } else { index })
        })),
    }],
    ..movement::UNARY
};

const fn moved(from: fn(&Case, usize, usize) -> (usize, usize)) -> Judged {
    let to = |case: &Case, _, element| {
        let shape = shape(case);
        let at = split(element, shape);
        let order = order(case);
        movement::one(0, join(order.map(|dimension| at[dimension]), order.map(|dimension| shape[dimension])))
    };
    Judged::Movement(Movement { from, to })
}

fn shape(case: &Case) -> [usize; 3] {
    ["a", "b", "c"].map(|axis| case.axis(axis))
}

/// By dimension of y, the dimension of x that it is.
fn order(case: &Case) -> [usize; 3] {
    match case.variant {
        "021" => [0, 2, 1],
        "102" => [1, 0, 2],
        "120" => [1, 2, 0],
        "201" => [2, 0, 1],
        _ => [2, 1, 0],
    }
}

/// The element of x that an element of y is.
fn source(case: &Case, index: usize) -> usize {
    let (shape, order) = (shape(case), order(case));
    let mut at = [0; 3];
    for (dimension, place) in order.into_iter().zip(split(index, order.map(|dimension| shape[dimension]))) {
        at[dimension] = place;
    }
    join(at, shape)
}

fn split(index: usize, shape: [usize; 3]) -> [usize; 3] {
    [index / (shape[1] * shape[2]), index / shape[2] % shape[1], index % shape[2]]
}

fn join(at: [usize; 3], shape: [usize; 3]) -> usize {
    (at[0] * shape[1] + at[1]) * shape[2] + at[2]
}
