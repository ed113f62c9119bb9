//! `embedding`: rows of a table by their numbers, bit for bit.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::number::Counts;
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::family::{elementwise, movement};
use crate::operation::{Axis, Judged, Operation, Problem, Reach};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "embedding",
    also: &["gather-rows"],
    about: "y[i] = x[t[i]], rows of a table",
    axes: &[
        Axis::new("rows", "numbers, and rows of y"),
        Axis::new("table", "rows of x"),
        Axis::new("cols", "length of a row"),
    ],
    legal: "table <= 2147483647",
    tensors: |case| {
        let [rows, table, cols] = sizes(case);
        // Numbers come again: of as many rows as there are numbers, half at least are different ones.
        let read = rows.min(table).div_ceil(2).saturating_mul(cols);
        vec![
            Tensor::input("x", case.dtype(), &[table, cols]).read_in_part(read),
            Tensor::input("t", Dtype::I32, &[rows])
                .holding(Content::Indices { below: table as u64, none: None }),
            Tensor::output("y", case.precision.output, &[rows, cols]),
        ]
    },
    work: |case| whole::work(case, Counts::default(), 0),
    judged: Judged::Whole(Whole {
        formula: |all, _, wanted| looked_up(all, wanted, |all, row| all.raw(1, row) as usize).collect(),
        reach,
    }),
    mutants: &[
        mutant("numbers not looked at", |all, _, wanted| {
            looked_up(all, wanted, |all, row| row % all.axis("table")).collect()
        }),
        mutant("the next row", |all, _, wanted| {
            looked_up(all, wanted, |all, row| (all.raw(1, row) as usize + 1) % all.axis("table")).collect()
        }),
    ],
    ..elementwise::UNARY
};

fn sizes(case: &Case) -> [usize; 3] {
    ["rows", "table", "cols"].map(|axis| case.axis(axis))
}

/// The wanted elements, from the rows that a kernel takes.
fn looked_up<'a>(
    all: &All<'a>,
    wanted: &[usize],
    taken: fn(&All<'a>, usize) -> usize,
) -> impl Iterator<Item = crate::number::Number<'a>> {
    let cols = all.axis("cols");
    wanted.iter().map(move |index| all.x(0, taken(all, index / cols) * cols + index % cols))
}

fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [rows, _, cols] = sizes(problem.case);
    if tensor == 1 {
        return vec![Reach { output: 0, first: element * cols, step: 1, count: cols }];
    }
    let asked = (0..rows).filter(|row| problem.inputs[1].get(*row) == (element / cols) as f64);
    asked.flat_map(|row| movement::one(0, row * cols + element % cols)).collect()
}
