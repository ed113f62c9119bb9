//! `spmm`: Y[rows,n] = A · X[cols,n] with a sparse A in rows or, `spmm.coo`, in no order, as [`spmv`](super::spmv) has it.

use super::matmul::limit;
use super::spmv::{
    COLS, Entry, LEGAL, NNZ, PATTERN, ROWS, entries, matrix, met, overwritten, rows_of, rows_that_meet,
};
use crate::fill::Fill;
use crate::instance::POISON;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Axis, Judged, Mutant, Operation, RateUnit, Reach, Variant, Wrong};
use crate::precision::Precision;
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "spmm",
    also: &[],
    about: "Y = A · X, A sparse with nnz values; sums in the accumulator, 0 where a row has none",
    variants: &[
        Variant { name: "", about: "CSR: row i has the values from offsets[i] to offsets[i+1]" },
        Variant { name: "coo", about: "a row and a column for each value, in no order" },
    ],
    axes: &[ROWS, COLS, Axis::new("n", "columns of X and Y"), NNZ],
    params: &[PATTERN],
    precisions: Precision::FLOATS,
    fills: Fill::ALL,
    rate: RateUnit::Flops,
    legal: LEGAL,
    tensors: |case| {
        let [rows, cols, n, nnz] = ["rows", "cols", "n", "nnz"].map(|axis| case.axis(axis));
        let mut tensors = matrix(case);
        let x = Tensor::input("x", case.dtype(), &[cols, n]).limit(limit(case, nnz));
        tensors.push(x.read_in_part(met(case).saturating_mul(n)));
        tensors.push(Tensor::output("y", case.precision.output, &[rows, n]));
        tensors
    },
    work: |case| {
        let sums = Counts { multiply_adds: case.axis("nnz") as u64, ..Counts::default() };
        whole::work(case, sums, case.axis("n") as u64)
    },
    judged: judged(|all, _, wanted| products(all, wanted, RIGHT)),
    mutants: &[
        mutant("empty rows left as they were", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { empty: POISON, ..RIGHT })
        }),
        mutant("the last value of a row left out", Fill::Normal, |all, _, wanted| {
            let counted = |row: Vec<Entry>| row[..row.len().saturating_sub(1)].to_vec();
            products(all, wanted, How { counted, ..RIGHT })
        }),
        mutant("values at one place overwritten", Fill::Extreme, |all, _, wanted| {
            products(all, wanted, How { counted: overwritten, ..RIGHT })
        }),
    ],
};

/// What a kernel makes of A: the values of a row that count, and what comes of a row that has none.
#[derive(Clone, Copy)]
struct How {
    counted: fn(Vec<Entry>) -> Vec<Entry>,
    empty: f64,
}

const RIGHT: How = How { counted: |row| row, empty: 0.0 };

fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let n = all.axis("n");
    let by_row: Vec<&[usize]> = wanted.chunk_by(|one, next| one / n == next / n).collect();
    let rows: Vec<usize> = by_row.iter().map(|wanted| wanted[0] / n).collect();
    let of_row = |(wanted, row): (&[usize], Vec<Entry>)| {
        if row.is_empty() {
            return vec![all.number(how.empty); wanted.len()];
        }
        let row = (how.counted)(row);
        let values: Vec<Number> = row.iter().map(|entry| all.x(0, entry.value)).collect();
        let element = |index: &usize| {
            let x: Vec<Number> = row.iter().map(|entry| all.x(3, entry.column * n + index % n)).collect();
            all.dot(&values, &x)
        };
        wanted.iter().map(element).collect::<Vec<_>>()
    };
    by_row.into_iter().zip(entries(all.problem(), &rows)).flat_map(of_row).collect()
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole {
        formula,
        reach: |problem, tensor, element| {
            let n = problem.case.axis("n");
            // An element of A reaches rows of Y, one of X a column in those that meet its row.
            let (rows, first, step, in_row) = match tensor {
                3 => (rows_that_meet(problem, element / n), element % n, n, 1),
                _ => (rows_of(problem, tensor, element), 0, 1, n),
            };
            let reach = |row: usize| Reach { output: 0, first: row * n + first, step, count: in_row };
            rows.into_iter().flatten().map(reach).collect()
        },
    })
}

const fn mutant(name: &'static str, fill: Fill, formula: whole::Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}
