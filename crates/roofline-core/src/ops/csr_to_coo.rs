//! `csr-to-coo`: the row of each value of a sparse matrix, from where its rows begin. Values and columns stay as they are.

use super::spmv::{NNZ, PATTERN, ROWS, part};
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Judged, Operation, RateUnit, Variant};
use crate::precision::Precision;
use crate::sparse::Part;
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "csr-to-coo",
    also: &[],
    about: "row-of[i] = the row whose values from offsets[row] to offsets[row+1] have i among them",
    variants: &[Variant { name: "", about: "row-of[nnz] of offsets[rows+1]" }],
    axes: &[ROWS, NNZ],
    params: &[PATTERN],
    precisions: INTEGERS,
    fills: Fill::FINITE,
    rate: RateUnit::Bytes,
    legal: "rows >= 1, rows < 2147483647, nnz <= 2147483647",
    tensors: |case| {
        let (rows, nnz) = (case.axis("rows"), case.axis("nnz"));
        let offsets = Tensor::input("offsets", I32, &[rows.saturating_add(1)]);
        vec![offsets.holding(part(case, Part::Offsets, rows, 1)), Tensor::output("row-of", I32, &[nnz])]
    },
    work: |case| whole::work(case, Counts::default(), 1),
    judged: Judged::Whole(Whole {
        formula: |all, _, wanted| rows_of(all, wanted, |all, value| row_of(all, value)),
        // Where a row begins hangs on its neighbours: nobody moves it alone.
        reach: |_, _, _| Vec::new(),
    }),
    mutants: &[
        mutant("rows counted from 1", |all, _, wanted| {
            rows_of(all, wanted, |all, value| row_of(all, value) + 1)
        }),
        mutant("empty rows not counted", |all, _, wanted| {
            rows_of(all, wanted, |all, value| {
                let starts = (0..row_of(all, value)).map(|row| [row, row + 1].map(|row| all.raw(0, row)));
                starts.filter(|[start, end]| start < end).count()
            })
        }),
        mutant("the first value of a row in the one before", |all, _, wanted| {
            rows_of(all, wanted, |all, value| row_of(all, value.saturating_sub(1)))
        }),
        mutant("the last value of a row in the next", |all, _, wanted| {
            rows_of(all, wanted, |all, value| row_of(all, (value + 1).min(all.axis("nnz") - 1)))
        }),
    ],
};

/// What has whole numbers alone.
pub(super) const INTEGERS: &[Precision] = &[Precision::of(I32)];

/// The last row that begins at the value or before it.
fn row_of(all: &All, value: usize) -> usize {
    let (mut row, mut beyond) = (0, all.axis("rows"));
    while beyond - row > 1 {
        let middle = row.midpoint(beyond);
        if all.raw(0, middle) as usize <= value { row = middle } else { beyond = middle }
    }
    row
}

fn rows_of<'a>(all: &All<'a>, wanted: &[usize], row: fn(&All<'a>, usize) -> usize) -> Vec<Number<'a>> {
    wanted.iter().map(|value| all.number(row(all, *value) as f64)).collect()
}
