//! `int8-matmul`: C[m,n] = (Σ a·b)·sa·sb, of codes A[m,k] and B[n,k] and the scales that they stand for.
//!
//! Sums of codes are exact. What a kernel may round is the sum as it becomes an f32, and the two products with scales.

use super::matmul::{K, M, N, weights};
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "int8-matmul",
    also: &["scaled-matmul"],
    about: "C = (A · Bᵀ) · sa · sb, of codes in i8 whose sums are exact",
    variants: &[
        Variant { name: "", about: "one scale for A, one for B" },
        Variant { name: "row", about: "a scale for each row of A, one for B" },
        Variant { name: "channel", about: "a scale for each row of A, and for each of B" },
        Variant {
            name: "fixed",
            about: "the same, where B and its scales are the same in every launch: they may be packed",
        },
    ],
    axes: &[M, N, K],
    params: &[],
    precisions: &[Precision::I8_F32, Precision::I8_BF16],
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    // So many products of the largest codes are what an i32 holds.
    legal: "k < 131072",
    tensors: |case| {
        let [m, n, k] = sizes(case);
        let (sa, sb) = scales(case);
        let scale = |name, count| Tensor::input(name, Dtype::F32, &[count]).holding(Content::Scales);
        vec![
            Tensor::input("a", case.dtype(), &[m, k]),
            weights(case, Tensor::input("b", case.precision.weights, &[n, k])),
            scale("sa", if sa { m } else { 1 }),
            weights(case, scale("sb", if sb { n } else { 1 })),
            Tensor::output("c", case.precision.output, &[m, n]),
        ]
    },
    work: |case| {
        let [m, n, k] = sizes(case).map(|size| size as u64);
        whole::work(case, Counts { multiply_adds: k, simple: 2, special: 0 }, m.saturating_mul(n))
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| products(all, wanted, RIGHT), reach }),
    mutants: &[
        Mutant {
            of: |case| scales(case).0,
            ..mutant("the scale of the next row", |all, _, wanted| {
                products(all, wanted, How { row: |row, rows| (row + 1) % rows, ..RIGHT })
            })
        },
        Mutant {
            of: |case| scales(case).0,
            ..mutant("the first row's scale for all", |all, _, wanted| {
                products(all, wanted, How { row: |_, _| 0, ..RIGHT })
            })
        },
        Mutant {
            of: |case| scales(case).1,
            ..mutant("the scale of the next column", |all, _, wanted| {
                products(all, wanted, How { column: |column, columns| (column + 1) % columns, ..RIGHT })
            })
        },
        Mutant {
            of: |case| scales(case).1,
            ..mutant("the first column's scale for all", |all, _, wanted| {
                products(all, wanted, How { column: |_, _| 0, ..RIGHT })
            })
        },
        Mutant {
            fill: Fill::Uniform,
            ..mutant("pairs of products saturate at 16 bits", |all, _, wanted| {
                products(all, wanted, How { sum: saturating, ..RIGHT })
            })
        },
        mutant("codes of A without their sign", |all, _, wanted| {
            products(all, wanted, How { sum: unsigned, ..RIGHT })
        }),
        mutant("remainder of k left out", |all, _, wanted| {
            let sum = |a: &[f64], b: &[f64]| exact(&a[..a.len().saturating_sub(3).max(1)], b);
            products(all, wanted, How { sum, ..RIGHT })
        }),
    ],
};

fn sizes(case: &Case) -> [usize; 3] {
    ["m", "n", "k"].map(|axis| case.axis(axis))
}

/// Whether A has a scale for each row, and whether B has.
fn scales(case: &Case) -> (bool, bool) {
    (!case.variant.is_empty(), ["channel", "fixed"].contains(&case.variant))
}

/// How a kernel goes about it: the scales that it takes for a row and a column, of so many, and its sum.
#[derive(Clone, Copy)]
struct How {
    row: fn(usize, usize) -> usize,
    column: fn(usize, usize) -> usize,
    sum: fn(&[f64], &[f64]) -> f64,
}

const RIGHT: How = How { row: |row, _| row, column: |column, _| column, sum: exact };

/// f64 holds every sum of codes.
fn exact(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn unsigned(a: &[f64], b: &[f64]) -> f64 {
    let unsigned = |a: f64| if a < 0.0 { a + 256.0 } else { a };
    a.iter().zip(b).map(|(a, b)| unsigned(*a) * b).sum()
}

/// As `maddubs` adds: A made unsigned by an offset, which is taken off at the end, and two products in 16 bits.
fn saturating(a: &[f64], b: &[f64]) -> f64 {
    let pair = |(a, b): (&[f64], &[f64])| {
        let sum: f64 = a.iter().zip(b).map(|(a, b)| (a + 128.0) * b).sum();
        sum.clamp(f64::from(i16::MIN), f64::from(i16::MAX))
    };
    a.chunks(2).zip(b.chunks(2)).map(pair).sum::<f64>() - 128.0 * b.iter().sum::<f64>()
}

/// The wanted elements, a row of C at a time.
fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [m, n, k] = sizes(all.case());
    let (sa, sb) = scales(all.case());
    let of_row = |wanted: &[usize]| {
        let row = wanted[0] / n;
        let a = all.line(0, row * k, k);
        let of_a = all.x(2, if sa { (how.row)(row, m) } else { 0 });
        let element = |index: &usize| {
            let column = index % n;
            let sum = (how.sum)(&a, &all.line(1, column * k, k));
            all.number(sum) * of_a * all.x(3, if sb { (how.column)(column, n) } else { 0 })
        };
        wanted.iter().map(element).collect::<Vec<_>>()
    };
    wanted.chunk_by(|one, next| one / n == next / n).flat_map(of_row).collect()
}

/// A row of A and its scale reach a row of C, a row of B and its scale a column; a scale of a whole tensor reaches all.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [m, n, k] = sizes(problem.case);
    let (sa, sb) = scales(problem.case);
    let row = |row| (row * n, 1, n);
    let column = |column| (column, n, m);
    let (first, step, count) = match tensor {
        0 => row(element / k),
        1 => column(element / k),
        2 if sa => row(element),
        3 if sb => column(element),
        _ => (0, 1, m * n),
    };
    vec![Reach { output: 0, first, step, count }]
}
