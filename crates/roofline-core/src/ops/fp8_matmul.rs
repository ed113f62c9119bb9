//! `fp8-matmul`: Y[m,n] = Σ over blocks of k of xs·ws·(Σ x·w), codes in fp8-e4m3 and a scale for each block of them.
//!
//! Scales differ along k, and so belong inside the sum. Kernels apply them to the sum of a block or to every code; the model
//! is that of the latter, which rounds more.

use super::matmul::{K, M, N, limit};
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Operation, Problem, RateUnit, Reach, Variant, Work};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "fp8-matmul",
    also: &["block-scaled-matmul"],
    about: "Y = X · Wᵀ, codes in fp8-e4m3 with a scale for each block along k",
    variants: &[
        Variant { name: "", about: "a scale for each block of a row of X, and for each block by block of W" },
        Variant { name: "square", about: "a scale for each block by block of X, and of W" },
    ],
    axes: &[M, N, Axis::new("block", "codes along k, and rows of W, that share a scale").usually(128), K],
    params: &[],
    precisions: &[Precision::W8A8, Precision::W8A8_F32, Precision::W8A16],
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: "block >= 1",
    tensors,
    work: |case| {
        let [m, n, _, k] = sizes(case).map(|size| size as u64);
        let products = Counts { multiply_adds: k, ..Counts::default() };
        let work = whole::work(case, products, m.saturating_mul(n));
        // Scales meet the sums of blocks, or the codes.
        let sums = m.saturating_mul(n).saturating_mul(2 * blocks(case) as u64);
        let codes = if is_scaled(case) { m.saturating_add(n) } else { n }.saturating_mul(k);
        Work { simple: sums.min(codes), ..work }
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| products(all, wanted, RIGHT), reach }),
    mutants: &[
        mutant("the last block's scales for the whole sum", |all, _, wanted| {
            products(all, wanted, How { block: |_, blocks| blocks - 1, ..RIGHT })
        }),
        mutant("the first block's scales for the whole sum", |all, _, wanted| {
            products(all, wanted, How { block: |_, _| 0, ..RIGHT })
        }),
        mutant("the scales of the next block", |all, _, wanted| {
            products(all, wanted, How { block: |block, blocks| (block + 1) % blocks, ..RIGHT })
        }),
        mutant("scales of W transposed", |all, _, wanted| {
            products(all, wanted, How { of_w: |of| of.block * of.groups + of.group, ..RIGHT })
        }),
        mutant("a scale for each row of W, not for a block of them", |all, _, wanted| {
            products(all, wanted, How { of_w: |of| of.row % of.groups * of.blocks + of.block, ..RIGHT })
        }),
        mutant("the last block left out", |all, _, wanted| {
            products(all, wanted, How { terms: |k, block| ((k - 1) / block * block).max(1), ..RIGHT })
        }),
    ],
};

fn sizes(case: &Case) -> [usize; 4] {
    ["m", "n", "block", "k"].map(|axis| case.axis(axis))
}

/// Blocks along k.
fn blocks(case: &Case) -> usize {
    case.axis("k").div_ceil(case.axis("block"))
}

/// Whether X has scales.
fn is_scaled(case: &Case) -> bool {
    case.dtype() == Dtype::Fp8E4m3
}

/// Rows of X that share a scale.
fn shared(case: &Case) -> usize {
    if case.variant == "square" { case.axis("block") } else { 1 }
}

fn tensors(case: &Case) -> Vec<Tensor> {
    let [m, n, block, k] = sizes(case);
    let scale =
        |name, rows: usize| Tensor::input(name, Dtype::F32, &[rows, blocks(case)]).holding(Content::Scales);
    // Seen in a long sum that is rounded to bf16.
    let step = ((k as f64).sqrt() / 64.0).clamp(1.0, 200.0);
    let mut tensors = vec![
        Tensor::input("x", case.dtype(), &[m, k]).limit(limit(case, k)).step(step),
        Tensor::input("w", case.precision.weights, &[n, k]).step(step),
    ];
    tensors.extend(is_scaled(case).then(|| scale("xs", m.div_ceil(shared(case)))));
    tensors.push(scale("ws", n.div_ceil(block)));
    tensors.push(Tensor::output("y", case.precision.output, &[m, n]));
    tensors
}

/// Whose scale is wanted: a row of W, the group of rows that it is in, and a block along k, of so many.
#[derive(Clone, Copy)]
struct Of {
    row: usize,
    group: usize,
    block: usize,
    groups: usize,
    blocks: usize,
}

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// The block along k whose scales it takes for one, of so many.
    block: fn(usize, usize) -> usize,
    /// Where it looks for a scale of W.
    of_w: fn(Of) -> usize,
    /// Terms of its sums, of so many in blocks of so many.
    terms: fn(usize, usize) -> usize,
}

const RIGHT: How =
    How { block: |block, _| block, of_w: |of| of.group * of.blocks + of.block, terms: |k, _| k };

/// The wanted elements.
fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let case = all.case();
    let [_, n, block, k] = sizes(case);
    let (terms, blocks, groups) = ((how.terms)(k, block), blocks(case), n.div_ceil(block));
    let of_block = |term: usize| (how.block)(term / block, blocks);
    let scales_of_w = 2 + usize::from(is_scaled(case));
    let x = |row: usize| {
        let x = |term: usize| {
            let x = all.x(0, row * k + term);
            if is_scaled(case) { x * all.x(2, row / shared(case) * blocks + of_block(term)) } else { x }
        };
        (0..terms).map(x).collect()
    };
    let w = |row: usize| {
        let w = |term: usize| {
            let of = Of { row, group: row / block, block: of_block(term), groups, blocks };
            all.x(1, row * k + term) * all.x(scales_of_w, (how.of_w)(of))
        };
        (0..terms).map(w).collect()
    };
    all.products(wanted, n, x, w)
}

/// What belongs to rows of X reaches these rows of Y, what belongs to rows of W these columns.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let case = problem.case;
    let [m, n, block, k] = sizes(case);
    let rows = |first: usize, count: usize| {
        let count = count.min(m - first);
        vec![Reach { output: 0, first: first * n, step: 1, count: count * n }]
    };
    let columns = |first: usize, count: usize| {
        let columns = first..(first + count).min(n);
        columns.map(|column| Reach { output: 0, first: column, step: n, count: m }).collect()
    };
    match tensor {
        0 => rows(element / k, 1),
        1 => columns(element / k, 1),
        2 if is_scaled(case) => rows(element / blocks(case) * shared(case), shared(case)),
        _ => columns(element / blocks(case) * block, block),
    }
}
