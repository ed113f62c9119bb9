//! `spmv`: y = A·x with a sparse A in rows: the values of each row, the column of each value, and where rows begin
//! (CSR); `spmv.coo`: with the row of each value, in no order.
//!
//! Columns of a row come in no order either, and values at one place add up.

use super::matmul::limit;
use crate::case::Case;
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::instance::POISON;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Wrong};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};
use std::collections::BTreeMap;
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "spmv",
    also: &[],
    about: "y = A · x, A sparse with nnz values; sums in the accumulator, 0 where a row has none",
    variants: &[
        Variant { name: "", about: "CSR: row i has the values from offsets[i] to offsets[i+1]" },
        Variant { name: "coo", about: "a row and a column for each value, in no order" },
    ],
    axes: &[ROWS, COLS, NNZ],
    params: &[],
    precisions: Precision::FLOATS,
    fills: Fill::ALL,
    rate: RateUnit::Bytes,
    legal: LEGAL,
    tensors: |case| {
        let mut tensors = matrix(case);
        tensors.push(
            Tensor::input("x", case.dtype(), &[case.axis("cols")]).limit(limit(case, case.axis("nnz"))),
        );
        tensors[3] = tensors[3].clone().read_in_part(met(case));
        tensors.push(Tensor::output("y", case.precision.output, &[case.axis("rows")]));
        tensors
    },
    work: |case| whole::work(case, Counts { multiply_adds: 1, ..Counts::default() }, case.axis("nnz") as u64),
    judged: judged(|all, _, wanted| products(all, wanted, RIGHT)),
    mutants: &[
        mutant("empty rows left as they were", Fill::Normal, |all, _, wanted| {
            let right = products(all, wanted, RIGHT).into_iter().zip(entries(all, wanted));
            right.map(|(y, row)| if row.is_empty() { all.number(POISON) } else { y }).collect()
        }),
        mutant("the last row left as it was", Fill::Normal, |all, _, wanted| {
            let last = all.axis("rows") - 1;
            let right = products(all, wanted, RIGHT).into_iter().zip(wanted);
            right.map(|(y, row)| if *row == last { all.number(POISON) } else { y }).collect()
        }),
        mutant("columns counted from 1", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { column: |column, cols| (column + 1) % cols, ..RIGHT })
        }),
        mutant("the last value of a row left out", Fill::Normal, |all, _, wanted| {
            let entries = |row: Vec<Entry>| row[..row.len().saturating_sub(1)].to_vec();
            products(all, wanted, How { entries, ..RIGHT })
        }),
        mutant("values at one place overwritten", Fill::Extreme, |all, _, wanted| {
            products(all, wanted, How { entries: overwritten, ..RIGHT })
        }),
    ],
};

pub(super) const ROWS: Axis = Axis::new("rows", "rows of A");
pub(super) const COLS: Axis = Axis::new("cols", "columns of A");
pub(super) const NNZ: Axis = Axis::new("nnz", "values of A");
/// What 32 bits can count.
pub(super) const LEGAL: &str = "rows < 2147483647, cols <= 2147483647, nnz <= 2147483647";

/// The tensors of A.
pub(super) fn matrix(case: &Case) -> Vec<Tensor> {
    let [rows, cols, nnz] = ["rows", "cols", "nnz"].map(|axis| case.axis(axis));
    let indices = |name, below: usize| {
        Tensor::input(name, I32, &[nnz]).holding(Content::Indices { below: below as u64, none: None })
    };
    let places = match case.variant {
        "coo" => indices("row-of", rows),
        _ => Tensor::input("offsets", I32, &[rows.saturating_add(1)])
            .holding(Content::Offsets { total: nnz as u64 }),
    };
    let values = Tensor::input("values", case.precision.weights, &[nnz]).limit(limit(case, nnz));
    vec![values, indices("columns", cols), places]
}

/// Columns that are met where as many as A has values are drawn by lot: so much of x is read.
pub(super) fn met(case: &Case) -> usize {
    let (cols, nnz) = (case.axis("cols") as f64, case.axis("nnz") as f64);
    if cols <= 1.0 {
        return 1;
    }
    (-cols * (nnz * (-1.0 / cols).ln_1p()).exp_m1()).floor() as usize
}

/// A value of A by its number, and its column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) value: usize,
    pub(super) column: usize,
}

/// The values of each wanted row, in the order of the input.
pub(super) fn entries(all: &All, wanted: &[usize]) -> Vec<Vec<Entry>> {
    let entry = |value: usize| Entry { value, column: all.raw(1, value) as usize };
    if all.variant() != "coo" {
        let of = |row: &usize| {
            let [start, end] = [*row, row + 1].map(|place| all.raw(2, place) as usize);
            (start..end).map(entry).collect()
        };
        return wanted.iter().map(of).collect();
    }
    let places: BTreeMap<usize, usize> =
        wanted.iter().enumerate().map(|(place, row)| (*row, place)).collect();
    let mut found = vec![Vec::new(); wanted.len()];
    for value in 0..all.axis("nnz") {
        if let Some(place) = places.get(&(all.raw(2, value) as usize)) {
            found[*place].push(entry(value));
        }
    }
    found
}

/// What a kernel makes of A: which values of a row count, and which column it takes for one.
#[derive(Clone, Copy)]
struct How {
    entries: fn(Vec<Entry>) -> Vec<Entry>,
    column: fn(usize, usize) -> usize,
}

const RIGHT: How = How { entries: |entries| entries, column: |column, _| column };

fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let cols = all.axis("cols");
    let of_row = |row: Vec<Entry>| {
        let row = (how.entries)(row);
        let values: Vec<Number> = row.iter().map(|entry| all.x(0, entry.value)).collect();
        let x: Vec<Number> = row.iter().map(|entry| all.x(3, (how.column)(entry.column, cols))).collect();
        all.dot(&values, &x)
    };
    entries(all, wanted).into_iter().map(of_row).collect()
}

/// Of values at one place the last alone.
pub(super) fn overwritten(row: Vec<Entry>) -> Vec<Entry> {
    let last: BTreeMap<usize, usize> = row.iter().map(|entry| (entry.column, entry.value)).collect();
    row.into_iter().filter(|entry| last[&entry.column] == entry.value).collect()
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole {
        formula,
        reach: |problem, tensor, element| {
            let reach =
                |rows: Range<usize>| Reach { output: 0, first: rows.start, step: 1, count: rows.len() };
            let rows = match tensor {
                3 => rows_that_meet(problem, element),
                _ => rows_of(problem, tensor, element),
            };
            rows.into_iter().map(reach).collect()
        },
    })
}

const fn mutant(name: &'static str, fill: Fill, formula: whole::Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

/// The row of a value.
fn row_of(problem: &Problem, value: usize) -> usize {
    let places = &problem.inputs[2];
    if problem.case.variant == "coo" {
        return places.get(value) as usize;
    }
    // The last row that begins at the value or before it.
    let (mut row, mut beyond) = (0, problem.case.axis("rows"));
    while beyond - row > 1 {
        let middle = row.midpoint(beyond);
        if places.get(middle) as usize <= value { row = middle } else { beyond = middle }
    }
    row
}

/// Rows of the result that an element of A changes.
pub(super) fn rows_of(problem: &Problem, tensor: usize, element: usize) -> Vec<Range<usize>> {
    // Where a row begins hangs on its neighbours: nobody moves it alone.
    if tensor == 2 && problem.case.variant != "coo" {
        return Vec::new();
    }
    let row = row_of(problem, element);
    let others = [0..row, row + 1..problem.case.axis("rows")];
    // A value that leaves its row may come to any other.
    let others = others.into_iter().filter(|rows| tensor == 2 && !rows.is_empty());
    std::iter::once(row..row + 1).chain(others).collect()
}

/// Rows of the result that meet a column.
pub(super) fn rows_that_meet(problem: &Problem, column: usize) -> Vec<Range<usize>> {
    let columns = &problem.inputs[1];
    let values = (0..problem.case.axis("nnz")).filter(|value| columns.get(*value) as usize == column);
    let mut rows: Vec<usize> = values.map(|value| row_of(problem, value)).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().map(|row| row..row + 1).collect()
}
