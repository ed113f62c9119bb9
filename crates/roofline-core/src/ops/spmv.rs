//! `spmv`: y = A·x with a sparse A in rows: the values of each row, the column of each value, and where rows begin
//! (CSR); `spmv.coo`: with the row of each value, in no order; `spmv.csc`: in columns, with the row of each value and where
//! columns begin.
//!
//! Columns of a row come in no order either, and values at one place add up. The patterns are contents, of which
//! implementations know nothing: [`crate::sparse`] says what they are.

use super::matmul::limit;
use crate::case::Case;
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::instance::POISON;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Axis, Judged, Mutant, Operation, Param, Problem, RateUnit, Reach, Variant, Wrong};
use crate::precision::Precision;
use crate::sparse::{Part, Pattern, Sparse};
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
        Variant { name: "csc", about: "column j has the values from offsets[j] to offsets[j+1]" },
    ],
    axes: &[ROWS, COLS, NNZ],
    params: &[PATTERN],
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
            let right = products(all, wanted, RIGHT).into_iter().zip(entries(all.problem(), wanted));
            right.map(|(y, row)| if row.is_empty() { all.number(POISON) } else { y }).collect()
        }),
        mutant("the last row left as it was", Fill::Normal, |all, _, wanted| {
            let last = all.axis("rows") - 1;
            let right = products(all, wanted, RIGHT).into_iter().zip(wanted);
            right.map(|(y, row)| if *row == last { all.number(POISON) } else { y }).collect()
        }),
        mutant("added to what stood there", Fill::Normal, |all, _, wanted| {
            products(all, wanted, RIGHT).into_iter().map(|y| all.number(POISON) + y).collect()
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

/// What the inputs hold, whoever computes with them.
pub(super) const PATTERN: Param =
    Param::of_content("pattern", "how the values of A are spread", Pattern::NAMES);

/// A part of A, with the pattern of the case.
pub(super) fn part(case: &Case, part: Part, rows: usize, cols: usize) -> Content {
    sparse(case, part, rows, cols).content()
}

fn sparse(case: &Case, part: Part, rows: usize, cols: usize) -> Sparse {
    let pattern = Pattern::ALL[case.param("pattern") as usize];
    Sparse { pattern, part, rows: rows as u64, cols: cols as u64, nnz: case.axis("nnz") as u64 }
}

/// The tensors of A: values, and two that say where they stand.
pub(super) fn matrix(case: &Case) -> Vec<Tensor> {
    let [rows, cols, nnz] = ["rows", "cols", "nnz"].map(|axis| case.axis(axis));
    let of_values = |name, kind| Tensor::input(name, I32, &[nnz]).holding(part(case, kind, rows, cols));
    let offsets = |rows: usize, cols| {
        let offsets = Tensor::input("offsets", I32, &[rows.saturating_add(1)]);
        offsets.holding(part(case, Part::Offsets, rows, cols))
    };
    let values = Tensor::input("values", case.precision.weights, &[nnz]).limit(limit(case, nnz));
    match case.variant {
        "coo" => vec![values, of_values("columns", Part::Columns), of_values("row-of", Part::Rows)],
        // The matrix the other way round: its pattern too.
        "csc" => {
            let row_of = Tensor::input("row-of", I32, &[nnz]).holding(part(case, Part::Columns, cols, rows));
            vec![values, row_of, offsets(cols, rows)]
        }
        _ => vec![values, of_values("columns", Part::Columns), offsets(rows, cols)],
    }
}

/// Columns that are met, and so rows of x that are read.
pub(super) fn met(case: &Case) -> usize {
    let (rows, cols, nnz) = (case.axis("rows"), case.axis("cols"), case.axis("nnz"));
    match case.variant {
        // Of columns of an even length a few may be empty, and two of three where empty ones are the pattern.
        "csc" => (cols.min(nnz) / 3).max(1),
        _ => sparse(case, Part::Columns, rows, cols).columns_met() as usize,
    }
}

/// A value of A by its number, and its column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) value: usize,
    pub(super) column: usize,
}

/// The values of each wanted row, in the order of the input.
pub(super) fn entries(problem: &Problem, wanted: &[usize]) -> Vec<Vec<Entry>> {
    let entry = |value: usize| Entry { value, column: column_of(problem, value) };
    if problem.case.variant.is_empty() {
        let of = |row: &usize| {
            let [start, end] = [*row, row + 1].map(|place| problem.inputs[2].get(place) as usize);
            (start..end).map(entry).collect()
        };
        return wanted.iter().map(of).collect();
    }
    let places: BTreeMap<usize, usize> =
        wanted.iter().enumerate().map(|(place, row)| (*row, place)).collect();
    let mut found = vec![Vec::new(); wanted.len()];
    for value in 0..problem.case.axis("nnz") {
        if let Some(place) = places.get(&row_of(problem, value)) {
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
    entries(all.problem(), wanted).into_iter().map(of_row).collect()
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
    match problem.case.variant {
        "coo" => problem.inputs[2].get(value) as usize,
        "csc" => problem.inputs[1].get(value) as usize,
        _ => line_of(problem, value, "rows"),
    }
}

fn column_of(problem: &Problem, value: usize) -> usize {
    match problem.case.variant {
        "csc" => line_of(problem, value, "cols"),
        _ => problem.inputs[1].get(value) as usize,
    }
}

/// The last row, or column, that begins at the value or before it.
fn line_of(problem: &Problem, value: usize, axis: &str) -> usize {
    let (mut line, mut beyond) = (0, problem.case.axis(axis));
    while beyond - line > 1 {
        let middle = line.midpoint(beyond);
        if problem.inputs[2].get(middle) as usize <= value { line = middle } else { beyond = middle }
    }
    line
}

/// Rows of the result that an element of A changes.
pub(super) fn rows_of(problem: &Problem, tensor: usize, element: usize) -> Vec<Range<usize>> {
    let row_of_each = match problem.case.variant {
        "coo" => 2,
        "csc" => 1,
        _ => 3,
    };
    // Where a row begins hangs on its neighbours: nobody moves it alone.
    if tensor == 2 && row_of_each != 2 {
        return Vec::new();
    }
    let row = row_of(problem, element);
    let others = [0..row, row + 1..problem.case.axis("rows")];
    // A value that leaves its row may come to any other.
    let others = others.into_iter().filter(|rows| tensor == row_of_each && !rows.is_empty());
    std::iter::once(row..row + 1).chain(others).collect()
}

/// Rows of the result that meet a column.
pub(super) fn rows_that_meet(problem: &Problem, column: usize) -> Vec<Range<usize>> {
    let values = (0..problem.case.axis("nnz")).filter(|value| column_of(problem, *value) == column);
    let mut rows: Vec<usize> = values.map(|value| row_of(problem, value)).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().map(|row| row..row + 1).collect()
}
