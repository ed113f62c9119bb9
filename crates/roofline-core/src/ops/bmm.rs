//! `bmm`: C[i] = A[i] · B[i]ᵀ for each i of a batch; `bmm.nn`: C[i] = A[i] · B[i].

use super::matmul::{K, M, N, limit};
use crate::case::Case;
use crate::dtype::Dtype::{Bf16, F16, F32, F64, I8};
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Operation, Problem, RateUnit, Reach, Variant};
use crate::precision::Precision;
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "bmm",
    also: &["batch-matmul"],
    about: "C[i] = A[i] · B[i]ᵀ for each i of a batch, sums in the accumulator",
    variants: &[
        Variant { name: "", about: "C[batch,m,n] from A[batch,m,k] and B[batch,n,k]" },
        Variant { name: "nn", about: "C[batch,m,n] from A[batch,m,k] and B[batch,k,n]" },
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
        mutant("remainder of k left out", |all, _, wanted| {
            products(all, wanted, |place| Place { terms: place.terms.saturating_sub(3).max(1), ..place })
        }),
    ],
};

fn sizes(case: &Case) -> [usize; 4] {
    ["batch", "m", "n", "k"].map(|axis| case.axis(axis))
}

fn tensors(case: &Case) -> Vec<Tensor> {
    let [batch, m, n, k] = sizes(case);
    let limit = limit(case, k);
    let b = if case.variant == "nn" { [batch, k, n] } else { [batch, n, k] };
    vec![
        Tensor::input("a", case.dtype(), &[batch, m, k]).limit(limit),
        Tensor::input("b", case.dtype(), &b).limit(limit),
        Tensor::output("c", case.precision.output, &[batch, m, n]),
    ]
}

/// A row of C: which one of all, the B that it is made with, and how many terms its sums have.
struct Place {
    row: usize,
    of_b: usize,
    terms: usize,
}

/// The wanted elements, a row of C at a time, from where a kernel thinks that they come.
fn products<'a>(all: &All<'a>, wanted: &[usize], place: fn(Place) -> Place) -> Vec<Number<'a>> {
    let [_, m, n, k] = sizes(all.case());
    let (column, step) = if all.variant() == "nn" { (1, n) } else { (k, 1) };
    let of_row = |wanted: &[usize]| {
        let row = wanted[0] / n;
        let Place { row, of_b, terms } = place(Place { row, of_b: row / m, terms: k });
        let columns = wanted.iter().map(|index| of_b * n * k + index % n * column);
        all.dots((0, row * k..row * k + terms), (1, columns, step))
    };
    wanted.chunk_by(|one, next| one / n == next / n).flat_map(of_row).collect()
}

/// An element of A reaches a row of C, one of B a column.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [_, m, n, k] = sizes(problem.case);
    let (batch, within) = (element / (n * k), element % (n * k));
    let (first, step, count) = match (tensor, problem.case.variant) {
        (0, _) => (element / k * n, 1, n),
        (_, "nn") => (batch * m * n + within % n, n, m),
        _ => (batch * m * n + within / k, n, m),
    };
    vec![Reach { output: 0, first, step, count }]
}
