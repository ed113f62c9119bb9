//! `bmm`: C[i] = A[i] · B[i]ᵀ for each i of a batch; `bmm.nn`: C[i] = A[i] · B[i]; `bmm.tn` and `bmm.tt`: the same of A[i]ᵀ.

use super::matmul::{K, M, N, limit};
use crate::case::Case;
use crate::dtype::Dtype::{Bf16, F16, F32, F64, I8};
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant};
use crate::precision::Precision;
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "bmm",
    also: &["batch-matmul"],
    about: "C[i] = A[i] · B[i]ᵀ for each i of a batch, sums in the accumulator",
    variants: &[
        Variant { name: "", about: "C[batch,m,n] from A[batch,m,k] and B[batch,n,k]" },
        Variant { name: "nn", about: "C[batch,m,n] from A[batch,m,k] and B[batch,k,n]" },
        Variant { name: "tn", about: "C[batch,m,n] from A[batch,k,m] and B[batch,k,n]" },
        Variant { name: "tt", about: "C[batch,m,n] from A[batch,k,m] and B[batch,n,k]" },
    ],
    axes: &[Axis::new("batch", "products"), M, N, K],
    params: &[],
    precisions: &[
        Precision::of(F32),
        Precision::of(Bf16),
        Precision::of(F16),
        Precision::of(I8),
        Precision::of(F64),
    ],
    fills: Fill::ALL,
    rate: RateUnit::Flops,
    legal: "",
    tensors,
    work: |case| {
        let [batch, m, n, k] = sizes(case).map(|size| size as u64);
        whole::work(
            case,
            Counts { multiply_adds: k, ..Counts::default() },
            batch.saturating_mul(m).saturating_mul(n),
        )
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| products(all, wanted, |place| place), reach }),
    mutants: &[
        mutant("the first B for all", |all, _, wanted| {
            products(all, wanted, |place| Place { of_b: 0, ..place })
        }),
        Mutant {
            of: |case| a_is_turned(case) && case.axis("m") > 1 && case.axis("k") > 1,
            ..mutant("A not turned", |all, _, wanted| {
                products(all, wanted, |place| Place { turned: false, ..place })
            })
        },
        mutant("remainder of k left out", |all, _, wanted| {
            products(all, wanted, |place| Place { terms: place.terms.saturating_sub(3).max(1), ..place })
        }),
    ],
};

fn sizes(case: &Case) -> [usize; 4] {
    ["batch", "m", "n", "k"].map(|axis| case.axis(axis))
}

/// Whether the columns of A are the rows that are multiplied.
fn a_is_turned(case: &Case) -> bool {
    matches!(case.variant, "tn" | "tt")
}

/// Whether the rows of B are the columns that are multiplied.
fn b_is_turned(case: &Case) -> bool {
    matches!(case.variant, "" | "tt")
}

fn tensors(case: &Case) -> Vec<Tensor> {
    let [batch, m, n, k] = sizes(case);
    let limit = limit(case, k);
    let a = if a_is_turned(case) { [batch, k, m] } else { [batch, m, k] };
    let b = if b_is_turned(case) { [batch, n, k] } else { [batch, k, n] };
    vec![
        Tensor::input("a", case.dtype(), &a).limit(limit),
        Tensor::input("b", case.dtype(), &b).limit(limit),
        Tensor::output("c", case.precision.output, &[batch, m, n]),
    ]
}

/// A row of C: which one of all, whether it is made of a column of A, the B that it is made with, and how many terms its sums
/// have.
struct Place {
    row: usize,
    turned: bool,
    of_b: usize,
    terms: usize,
}

/// The wanted elements, a row of C at a time, from where a kernel thinks that they come.
fn products<'a>(all: &All<'a>, wanted: &[usize], place: fn(Place) -> Place) -> Vec<Number<'a>> {
    let [_, m, n, k] = sizes(all.case());
    let (column, step) = if b_is_turned(all.case()) { (k, 1) } else { (1, n) };
    let of_row = |wanted: &[usize]| {
        let row = wanted[0] / n;
        let turned = a_is_turned(all.case());
        let Place { row, turned, of_b, terms } = place(Place { row, turned, of_b: row / m, terms: k });
        let (first, apart) = if turned { (row / m * m * k + row % m, m) } else { (row * k, 1) };
        let line = all.problem().inputs[0].line(first, apart, terms);
        let columns = wanted.iter().map(|index| of_b * n * k + index % n * column);
        let columns: Vec<Vec<f64>> =
            columns.map(|first| all.problem().inputs[1].line(first, step, terms)).collect();
        all.dots_of(&line, &columns)
    };
    wanted.chunk_by(|one, next| one / n == next / n).flat_map(of_row).collect()
}

/// An element of A reaches a row of C, one of B a column.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [_, m, n, k] = sizes(problem.case);
    let (first, step, count) = if tensor == 0 {
        let (batch, within) = (element / (m * k), element % (m * k));
        let row = if a_is_turned(problem.case) { within % m } else { within / k };
        ((batch * m + row) * n, 1, n)
    } else {
        let (batch, within) = (element / (n * k), element % (n * k));
        let column = if b_is_turned(problem.case) { within / k } else { within % n };
        (batch * m * n + column, n, m)
    };
    vec![Reach { output: 0, first, step, count }]
}
