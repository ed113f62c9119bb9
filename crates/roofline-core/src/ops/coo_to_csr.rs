//! `coo-to-csr`: where the rows of a sparse matrix begin, and the order that its values come in, from the row of each value.
//!
//! Values of a row stay in the order that they had: `order` says which of them comes to each place, and columns and values
//! are gathered by it.

use super::csr_to_coo::INTEGERS;
use super::spmv::{NNZ, PATTERN, ROWS, part};
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::instance::POISON;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Judged, Operation, Problem, RateUnit, Reach, Variant};
use crate::sparse::Part;
use crate::tensor::Tensor;
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "coo-to-csr",
    also: &[],
    about: "offsets[row] = values of the rows before, order = numbers of the values row by row",
    variants: &[Variant {
        name: "",
        about: "offsets[rows+1] and order[nnz] of row-of[nnz], which are in no order",
    }],
    axes: &[ROWS, NNZ],
    params: &[PATTERN],
    precisions: INTEGERS,
    fills: Fill::FINITE,
    rate: RateUnit::Bytes,
    legal: "rows >= 1, rows < 2147483647, nnz <= 2147483647",
    tensors: |case| {
        let (rows, nnz) = (case.axis("rows"), case.axis("nnz"));
        let row_of = Tensor::input("row-of", I32, &[nnz]);
        vec![
            row_of.holding(part(case, Part::Rows, rows, 1)).sorted_by(),
            Tensor::output("offsets", I32, &[rows.saturating_add(1)]),
            Tensor::output("order", I32, &[nnz]),
        ]
    },
    work: |case| whole::work(case, Counts { simple: 1, ..Counts::default() }, case.axis("nnz") as u64),
    judged: Judged::Whole(Whole {
        formula: |all, output, wanted| converted(all, output, wanted, RIGHT),
        reach,
    }),
    mutants: &[
        mutant("ends in place of beginnings", |all, output, wanted| {
            converted(all, output, wanted, How { place: |row, rows| (row + 1).min(rows), ..RIGHT })
        }),
        mutant("the number of all not written", |all, output, wanted| {
            let rows = all.axis("rows");
            let right = converted(all, output, wanted, RIGHT).into_iter().zip(wanted);
            let is_last = |place: usize| output == 0 && place == rows;
            right.map(|(y, place)| if is_last(*place) { all.number(POISON) } else { y }).collect()
        }),
        mutant("values of a row the other way round", |all, output, wanted| {
            converted(all, output, wanted, How { order: |(row, value)| (*row, usize::MAX - value), ..RIGHT })
        }),
        mutant("values left in their order", |all, output, wanted| {
            converted(all, output, wanted, How { order: |(_, value)| (0, *value), ..RIGHT })
        }),
    ],
};

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// Values before this row, of so many, are what stands at a row's place.
    place: fn(usize, usize) -> usize,
    /// What values are sorted by, of row and number.
    order: fn(&(usize, usize)) -> (usize, usize),
}

const RIGHT: How = How { place: |row, _| row, order: |(row, value)| (*row, *value) };

fn converted<'a>(all: &All<'a>, output: usize, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let (rows, nnz) = (all.axis("rows"), all.axis("nnz"));
    let mut values: Vec<(usize, usize)> =
        all.line(0, 0, nnz).into_iter().enumerate().map(|(value, row)| (row as usize, value)).collect();
    values.sort_unstable();
    let before = |row: usize| values.partition_point(|(other, _)| *other < row);
    if output == 0 {
        let found = wanted.iter().map(|row| before((how.place)(*row, rows)));
        return found.map(|count| all.number(count as f64)).collect();
    }
    values.sort_by_key(how.order);
    wanted.iter().map(|place| all.number(values[*place].1 as f64)).collect()
}

/// A value that leaves its row for any other: the places between those that it may come to, and all beginnings but the first.
fn reach(problem: &Problem, _tensor: usize, element: usize) -> Vec<Reach> {
    let (place, range) = between(problem, element);
    let rows = problem.case.axis("rows");
    if range.len() < 2 {
        return offsets_between(rows);
    }
    let order = |first: usize, count: usize| Reach { output: 1, first, step: 1, count };
    // Its own place first: there a change shows whatever row it comes to.
    [vec![order(place, 1), order(range.start, range.len())], offsets_between(rows)].concat()
}

/// The place of a value among those of all rows, and places that it may come to, whose rows are the first input: fewer than two
/// where it cannot move.
pub(super) fn between(problem: &Problem, element: usize) -> (usize, Range<usize>) {
    let (rows, nnz) = (problem.case.axis("rows"), problem.case.axis("nnz"));
    let row = |value: usize| problem.inputs[0].get(value) as usize;
    let own = row(element);
    let place = (0..nnz).filter(|value| (row(*value), *value) < (own, element)).count();
    if rows < 2 {
        return (place, place..place);
    }
    let low = (0..element).filter(|value| row(*value) == 0).count();
    let high = nnz - (element + 1..nnz).filter(|value| row(*value) + 1 == rows).count();
    (place, low..high)
}

pub(super) fn offsets_between(rows: usize) -> Vec<Reach> {
    let inner = Reach { output: 0, first: 1, step: 1, count: rows.saturating_sub(1) };
    Some(inner).filter(|inner| inner.count > 0).into_iter().collect()
}
