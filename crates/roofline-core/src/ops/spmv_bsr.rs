//! `spmv-bsr`: y = A·x with a sparse A of dense blocks (BSR): the blocks of each row of blocks, the column of each, and where
//! rows of blocks begin.
//!
//! Sizes count blocks, so that every size is legal; blocks of a row come in no order, and those at one place add up. A block
//! stands row by row.

use super::matmul::limit;
use super::spmv::PATTERN;
use crate::case::Case;
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::instance::POISON;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Wrong};
use crate::precision::Precision;
use crate::sparse::{Part, Pattern, Sparse};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "spmv-bsr",
    also: &["bsrmv"],
    about: "y = A · x, A sparse of dense blocks; sums in the accumulator, 0 where a row has none",
    variants: &[Variant {
        name: "",
        about: "row i of blocks has values[blocks,side,side] from offsets[i] to offsets[i+1], at columns of blocks",
    }],
    axes: &[
        Axis::new("rows", "rows of blocks"),
        Axis::new("cols", "columns of blocks"),
        Axis::new("side", "rows, and columns, of a block").usually(4),
        Axis::new("blocks", "blocks of A"),
    ],
    params: &[PATTERN],
    precisions: Precision::FLOATS,
    fills: Fill::ALL,
    rate: RateUnit::Bytes,
    legal: "side >= 1, side <= 1024, rows < 2097152, cols <= 2097152, blocks <= 2147483647",
    tensors: |case| {
        let [rows, cols, side, blocks] = sizes(case);
        let offsets = sparse(case, Part::Offsets);
        let columns = sparse(case, Part::Columns);
        let met = (columns.columns_met() as usize).saturating_mul(side);
        let most = limit(case, blocks.saturating_mul(side));
        vec![
            Tensor::input("values", case.precision.weights, &[blocks, side, side]).limit(most),
            Tensor::input("columns", I32, &[blocks]).holding(columns.content()),
            Tensor::input("offsets", I32, &[rows.saturating_add(1)]).holding(offsets.content()),
            Tensor::input("x", case.dtype(), &[cols, side]).limit(most).read_in_part(met),
            Tensor::output("y", case.precision.output, &[rows, side]),
        ]
    },
    work: |case| {
        let [_, _, side, blocks] = sizes(case).map(|size| size as u64);
        let counts = Counts { multiply_adds: 1, ..Counts::default() };
        whole::work(case, counts, blocks.saturating_mul(side).saturating_mul(side))
    },
    judged: judged(|all, _, wanted| products(all, wanted, RIGHT)),
    mutants: &[
        mutant("blocks transposed", |all, _, wanted| {
            products(all, wanted, How { within: |row, column, side| column * side + row, ..RIGHT })
        }),
        mutant("columns of elements, not of blocks", |all, _, wanted| {
            products(all, wanted, How { first: |column, _| column, ..RIGHT })
        }),
        mutant("the last block of a row left out", |all, _, wanted| {
            products(all, wanted, How { left_out: 1, ..RIGHT })
        }),
        mutant("empty rows left as they were", |all, _, wanted| {
            let side = all.axis("side");
            let right = products(all, wanted, RIGHT).into_iter().zip(wanted);
            let is_empty = |row: usize| blocks_of(all.problem(), row / side).is_empty();
            right.map(|(y, row)| if is_empty(*row) { all.number(POISON) } else { y }).collect()
        }),
        mutant("added to what stood there", |all, _, wanted| {
            products(all, wanted, RIGHT).into_iter().map(|y| all.number(POISON) + y).collect()
        }),
    ],
};

fn sizes(case: &Case) -> [usize; 4] {
    ["rows", "cols", "side", "blocks"].map(|axis| case.axis(axis))
}

/// A part of the pattern, whose values are blocks.
fn sparse(case: &Case, part: Part) -> Sparse {
    let [rows, cols, _, nnz] = sizes(case).map(|size| size as u64);
    Sparse { pattern: Pattern::ALL[case.param("pattern") as usize], part, rows, cols, nnz }
}

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// Where in a block of such a side a row and a column meet.
    within: fn(usize, usize, usize) -> usize,
    /// The first element of x that a block in a column meets.
    first: fn(usize, usize) -> usize,
    /// Blocks that are left out at the end of each row.
    left_out: usize,
}

const RIGHT: How =
    How { within: |row, column, side| row * side + column, first: |column, side| column * side, left_out: 0 };

/// The blocks of a row of blocks.
fn blocks_of(problem: &Problem, row: usize) -> std::ops::Range<usize> {
    let [start, end] = [row, row + 1].map(|place| problem.inputs[2].get(place) as usize);
    start..end
}

fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let side = all.axis("side");
    let of_row = |row: &usize| {
        let (mut values, mut x) = (Vec::new(), Vec::new());
        let blocks = blocks_of(all.problem(), row / side);
        let count = blocks.len().saturating_sub(how.left_out);
        for block in blocks.take(count) {
            let first = (how.first)(all.raw(1, block) as usize, side);
            for column in 0..side {
                values.push(all.x(0, block * side * side + (how.within)(row % side, column, side)));
                x.push(all.x(3, first + column));
            }
        }
        all.dot(&values, &x)
    };
    wanted.iter().map(of_row).collect()
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach })
}

const fn mutant(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

/// A value reaches one row; the place of a block, and what it meets, all rows of it.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [rows, _, side, blocks] = sizes(problem.case);
    let row_of = |block: usize| {
        let (mut row, mut beyond) = (0, rows);
        while beyond - row > 1 {
            let middle = row.midpoint(beyond);
            if problem.inputs[2].get(middle) as usize <= block { row = middle } else { beyond = middle }
        }
        row
    };
    let of_block = |row: usize| Reach { output: 0, first: row * side, step: 1, count: side };
    match tensor {
        0 => {
            let (block, within) = (element / (side * side), element / side % side);
            vec![Reach { output: 0, first: row_of(block) * side + within, step: 1, count: 1 }]
        }
        1 => vec![of_block(row_of(element))],
        // Where a row begins hangs on its neighbours: nobody moves it alone.
        2 => Vec::new(),
        _ => {
            let meets = |block: &usize| problem.inputs[1].get(*block) as usize == element / side;
            let mut met: Vec<usize> = (0..blocks).filter(meets).map(row_of).collect();
            met.dedup();
            met.into_iter().map(of_block).collect()
        }
    }
}
