//! `w4-matmul`: Y[m,n] = X[m,k] · Wᵀ, with weights of four bits and a scale and a zero point for each group of a row of W: a
//! code q stands for s·(q − z).
//!
//! Two neighbours along k share a byte, the first of them in its low half. Scales are of the type of X, zero points are codes
//! in bytes of their own. Kernels apply both to the sums of a group or to every code; the model is that of the latter, which
//! rounds more.

use super::matmul::{K, M, N, limit, weights};
use super::q8_matmul::without_remainder;
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Operation, Problem, RateUnit, Reach, Variant, Work};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "w4-matmul",
    also: &["int4-matmul"],
    about: "Y = X · Wᵀ, weights of four bits with a scale and a zero point for each group along k",
    variants: &[
        Variant {
            name: "", about: "pairs of codes q[n,⌈k/2⌉], scales s[n,groups], zero points z[n,groups]"
        },
        Variant { name: "fixed", about: "weights that are the same in every launch: they may be packed" },
    ],
    axes: &[M, N, Axis::new("group", "codes along k that share a scale and a zero point").usually(128), K],
    params: &[],
    precisions: &[Precision::W4A16_F16, Precision::W4A16],
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: "group >= 1",
    tensors: |case| {
        let [m, n, group, k] = sizes(case);
        let of_group = [n, k.div_ceil(group)];
        // Seen in a long sum that is rounded to 16 bits.
        let step = ((k as f64).sqrt() / 64.0).clamp(1.0, 200.0);
        let q = Tensor::input("q", case.precision.weights, &[n, k.div_ceil(2)]);
        let z = Tensor::input("z", Dtype::I8, &of_group);
        vec![
            Tensor::input("x", case.dtype(), &[m, k]).limit(limit(case, k) / 64.0).step(step),
            weights(case, q.holding(Content::Codes)),
            weights(case, Tensor::input("s", case.dtype(), &of_group).holding(Content::Scales)),
            weights(case, z.holding(Content::Indices { below: 16, none: None })),
            Tensor::output("y", case.precision.output, &[m, n]),
        ]
    },
    work: |case| {
        let [m, n, group, k] = sizes(case).map(|size| size as u64);
        let products = Counts { multiply_adds: k, ..Counts::default() };
        let work = whole::work(case, products, m.saturating_mul(n));
        // Scales and zero points meet the sums of groups, or the codes.
        let sums = m.saturating_mul(n).saturating_mul(2 * k.div_ceil(group));
        Work { simple: sums.min(n.saturating_mul(2 * k)), ..work }
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| products(all, wanted, RIGHT), reach }),
    mutants: &[
        mutant("zero points forgotten", |all, _, wanted| {
            products(all, wanted, How { zero: |_| 0.0, ..RIGHT })
        }),
        mutant("zero points one too high", |all, _, wanted| {
            products(all, wanted, How { zero: |z| z + 1.0, ..RIGHT })
        }),
        mutant("the middle of the codes for every zero point", |all, _, wanted| {
            products(all, wanted, How { zero: |_| 8.0, ..RIGHT })
        }),
        mutant("the halves of a byte exchanged", |all, _, wanted| {
            products(all, wanted, How { code: |pair, term| code(pair, term + 1), ..RIGHT })
        }),
        mutant("codes of two's complement", |all, _, wanted| {
            let code = |pair, term| (code(pair, term) + 8.0) % 16.0 - 8.0;
            products(all, wanted, How { code, ..RIGHT })
        }),
        mutant("the scale and the zero point of the next group", |all, _, wanted| {
            products(all, wanted, How { group: |group, groups| (group + 1) % groups, ..RIGHT })
        }),
        mutant("the first group's scale and zero point for the whole sum", |all, _, wanted| {
            products(all, wanted, How { group: |_, _| 0, ..RIGHT })
        }),
        mutant("remainder of k left out", |all, _, wanted| {
            products(all, wanted, How { terms: without_remainder, ..RIGHT })
        }),
    ],
};

fn sizes(case: &Case) -> [usize; 4] {
    ["m", "n", "group", "k"].map(|axis| case.axis(axis))
}

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// The group whose scale and zero point it takes for one, of so many.
    group: fn(usize, usize) -> usize,
    /// What it reads a zero point as.
    zero: fn(f64) -> f64,
    /// The code of a term from the byte of two.
    code: fn(f64, usize) -> f64,
    /// Terms of its sums.
    terms: fn(usize) -> usize,
}

const RIGHT: How = How { group: |group, _| group, zero: |z| z, code, terms: |k| k };

/// The code of a term along k.
fn code(pair: f64, term: usize) -> f64 {
    f64::from(pair as i8 as u8 >> (term % 2 * 4) & 15)
}

/// The wanted elements.
fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [_, n, group, k] = sizes(all.case());
    let (terms, groups) = ((how.terms)(k), k.div_ceil(group));
    let x = |row: usize| (0..terms).map(|term| all.x(0, row * k + term)).collect();
    let w = |row: usize| {
        let number = |term: usize| {
            let of_group = row * groups + (how.group)(term / group, groups);
            let code = (how.code)(all.raw(1, row * k.div_ceil(2) + term / 2), term);
            all.number(code - (how.zero)(all.raw(3, of_group))) * all.x(2, of_group)
        };
        (0..terms).map(number).collect()
    };
    all.products(wanted, n, x, w)
}

/// A row of X reaches a row of Y; codes, scales and zero points of a row of W reach a column.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [m, n, group, k] = sizes(problem.case);
    let column = |of_row: usize| Reach { output: 0, first: element / of_row, step: n, count: m };
    vec![match tensor {
        0 => Reach { output: 0, first: element / k * n, step: 1, count: n },
        1 => column(k.div_ceil(2)),
        _ => column(k.div_ceil(group)),
    }]
}
