//! `coo-to-csr-values`: a sparse matrix row by row, from values that each have their row and their column, in no order.
//!
//! [`coo-to-csr`](super::coo_to_csr) says where rows begin and which value comes to each place; here values and columns are
//! brought there. Values of a row stay in the order that they had. The form `csc` goes by columns: it is the matrix the other way
//! round.

use super::coo_to_csr::{between, offsets_between};
use super::spmv::{NNZ, PATTERN, ROWS, part};
use crate::case::Case;
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::instance::POISON;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Judged, Operation, Problem, RateUnit, Reach, Variant};
use crate::precision::Precision;
use crate::sparse::Part;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "coo-to-csr-values",
    also: &[],
    about: "offsets[row] = values of the rows before; values and their columns row by row",
    variants: &[
        Variant {
            name: "",
            about: "offsets[rows+1], columns-out[nnz] and y[nnz] of values[nnz], columns[nnz] and row-of[nnz]",
        },
        Variant { name: "csc", about: "by columns, of which `rows` is the number: the matrix in columns" },
    ],
    axes: &[ROWS, NNZ],
    params: &[PATTERN],
    precisions: Precision::FLOATS,
    fills: Fill::ALL,
    rate: RateUnit::Bytes,
    legal: "rows >= 1, rows < 2147483647, nnz <= 2147483647",
    tensors: |case| {
        let (rows, nnz) = (case.axis("rows"), case.axis("nnz"));
        let [sorted, other, other_out] = names(case);
        vec![
            Tensor::input(sorted, I32, &[nnz]).holding(part(case, Part::Rows, rows, 1)).sorted_by(),
            Tensor::input(other, I32, &[nnz]).holding(Content::Indices { below: OTHERS, none: None }),
            Tensor::input("values", case.dtype(), &[nnz]),
            Tensor::output("offsets", I32, &[rows.saturating_add(1)]),
            Tensor::output(other_out, I32, &[nnz]),
            Tensor::output("y", case.precision.output, &[nnz]),
        ]
    },
    work: |case| whole::work(case, Counts { simple: 1, ..Counts::default() }, case.axis("nnz") as u64),
    judged: Judged::Whole(Whole {
        formula: |all, output, wanted| converted(all, output, wanted, RIGHT),
        reach,
    }),
    mutants: &[
        mutant("values left in their order", |all, output, wanted| {
            converted(all, output, wanted, How { value: |place, _| place, ..RIGHT })
        }),
        mutant("columns left in their order", |all, output, wanted| {
            converted(all, output, wanted, How { other: |place, _| place, ..RIGHT })
        }),
        mutant("values of a row the other way round", |all, output, wanted| {
            converted(all, output, wanted, How { order: |(row, value)| (*row, usize::MAX - value), ..RIGHT })
        }),
        mutant("the number of all not written", |all, output, wanted| {
            let rows = all.axis("rows");
            let right = converted(all, output, wanted, RIGHT).into_iter().zip(wanted);
            let is_last = |place: usize| output == 0 && place == rows;
            right.map(|(y, place)| if is_last(*place) { all.number(POISON) } else { y }).collect()
        }),
    ],
};

/// Columns, of which nothing is asked here, are below so many.
const OTHERS: u64 = 1 << 30;

/// What is sorted by, what goes with it, and where that goes.
fn names(case: &Case) -> [&'static str; 3] {
    match case.variant {
        "csc" => ["columns", "row-of", "row-of-out"],
        _ => ["row-of", "columns", "columns-out"],
    }
}

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// What values are sorted by, of row and number.
    order: fn(&(usize, usize)) -> (usize, usize),
    /// The number of the value, and of the column, that a place gets, of its own and of the one that is due.
    value: fn(usize, usize) -> usize,
    other: fn(usize, usize) -> usize,
}

const RIGHT: How = How { order: |(row, value)| (*row, *value), value: |_, due| due, other: |_, due| due };

fn converted<'a>(all: &All<'a>, output: usize, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let mut values: Vec<(usize, usize)> =
        all.line(0, 0, all.axis("nnz")).into_iter().enumerate().map(|(i, row)| (row as usize, i)).collect();
    values.sort_by_key(how.order);
    let before = |row: usize| values.partition_point(|(other, _)| *other < row);
    let at = |place: &usize| match output {
        0 => all.number(before(*place) as f64),
        1 => all.number(all.raw(1, (how.other)(*place, values[*place].1))),
        _ => all.x(2, (how.value)(*place, values[*place].1)),
    };
    wanted.iter().map(at).collect()
}

/// A value and a column reach the place that they come to; a row, all places that its value may come to.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let (place, range) = between(problem, element);
    let at = |output: usize, first: usize, count: usize| Reach { output, first, step: 1, count };
    match tensor {
        0 if range.len() < 2 => offsets_between(problem.case.axis("rows")),
        0 => {
            // Its own place first: there a change shows whatever row it comes to.
            let moved = [2, 1].map(|output| [at(output, place, 1), at(output, range.start, range.len())]);
            [moved.concat(), offsets_between(problem.case.axis("rows"))].concat()
        }
        other => vec![at(other, place, 1)],
    }
}
