//! `moe-combine`: the rows that experts left, back in the order of their tokens, added up by weight.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::number::{Counts, Number};
use crate::operation::family::elementwise;
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Operation, Problem, Reach};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "moe-combine",
    also: &["unpermute"],
    about: "y[i] = Σ over j of w[i,j] · x[place[i,j]]",
    axes: &[
        Axis::new("rows", "tokens"),
        Axis::new("top", "experts of a token"),
        Axis::new("cols", "length of a row"),
    ],
    legal: "rows * top <= 2147483647",
    tensors: |case| {
        let [rows, top, cols] = sizes(case);
        let all = rows.saturating_mul(top);
        let order = Content::Order { below: all as u64 };
        vec![
            Tensor::input("x", case.dtype(), &[all, cols]).limit(1e3),
            Tensor::input("w", case.dtype(), &[rows, top]).limit(1.0),
            Tensor::input("place", Dtype::I32, &[rows, top]).holding(order),
            Tensor::output("y", case.precision.output, &[rows, cols]),
        ]
    },
    work: |case| {
        let [rows, top, cols] = sizes(case).map(|size| size as u64);
        whole::work(case, Counts { multiply_adds: top, ..Counts::default() }, rows.saturating_mul(cols))
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| combined(all, wanted, RIGHT), reach }),
    mutants: &[
        mutant("weights not applied", |all, _, wanted| {
            combined(all, wanted, How { weight: |all, _, _| all.number(1.0), ..RIGHT })
        }),
        mutant("rows in the order of the experts", |all, _, wanted| {
            combined(all, wanted, How { place: |_, at| at, ..RIGHT })
        }),
        mutant("the last expert left out", |all, _, wanted| {
            combined(all, wanted, How { count: |top| top - 1, ..RIGHT })
        }),
        mutant("weights of the next token", |all, _, wanted| {
            combined(
                all,
                wanted,
                How { weight: |all, row, j| weight(all, (row + 1) % all.axis("rows"), j), ..RIGHT },
            )
        }),
    ],
    ..elementwise::UNARY
};

fn sizes(case: &Case) -> [usize; 3] {
    ["rows", "top", "cols"].map(|axis| case.axis(axis))
}

/// How a kernel goes about it: what mutants change.
#[derive(Clone, Copy)]
struct How {
    /// The row of x for a place in the list.
    place: fn(&All, usize) -> usize,
    /// Of a token and the number of its expert.
    weight: for<'a> fn(&All<'a>, usize, usize) -> Number<'a>,
    count: fn(usize) -> usize,
}

const RIGHT: How = How {
    place: |all, at| all.raw(2, at) as usize,
    weight: |all, row, j| weight(all, row, j),
    count: |top| top,
};

fn weight<'a>(all: &All<'a>, row: usize, j: usize) -> Number<'a> {
    all.x(1, row * all.axis("top") + j)
}

fn combined<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [_, top, cols] = sizes(all.case());
    let sum = |index: &usize| {
        let (row, column) = (index / cols, index % cols);
        let experts = 0..(how.count)(top);
        let weights: Vec<Number> = experts.clone().map(|j| (how.weight)(all, row, j)).collect();
        let rows = experts.map(|j| all.x(0, (how.place)(all, row * top + j) * cols + column));
        all.dot(&weights, &rows.collect::<Vec<_>>())
    };
    wanted.iter().map(sum).collect()
}

fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [rows, top, cols] = sizes(problem.case);
    let row = |row: usize| Reach { output: 0, first: row * cols, step: 1, count: cols };
    if tensor > 0 {
        return vec![row(element / top)];
    }
    let at = (0..rows * top).find(|at| problem.inputs[2].get(*at) == (element / cols) as f64);
    at.map(|at| Reach { first: at / top * cols + element % cols, count: 1, ..row(0) }).into_iter().collect()
}
