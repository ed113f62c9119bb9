//! `q8-matmul`: Y[m,n] = X[m,k] · Wᵀ, with weights in blocks of 32 codes of i8 and a scale in f16, as GGML's Q8_0 has them.
//!
//! A row of W is whole blocks, and codes beyond k stand for nothing, whatever they are. Kernels apply scales to the sum of a
//! block or to every code; the model is that of the latter, which rounds more.

use super::matmul::{K, M, N, limit};
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::format::{F16, power_of_two};
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Wrong};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "q8-matmul",
    also: &["q8-0-matmul"],
    about: "Y = X · Wᵀ, weights in blocks of 32 codes of i8 with a scale in f16 (Q8_0)",
    variants: &[
        Variant { name: "", about: "scales s[n,blocks] and codes q[n,32·blocks] apart" },
        Variant { name: "raw", about: "w[n,34·blocks], the bytes of each scale before its codes" },
    ],
    axes: &[M, N, K],
    params: &[],
    precisions: &[Precision::of(Dtype::F32)],
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: "",
    tensors: |case| {
        let [m, n, k] = sizes(case);
        let x = Tensor::input("x", case.dtype(), &[m, k]).limit(limit(case, k) / 1024.0);
        let y = Tensor::output("y", case.precision.output, &[m, n]);
        let blocks = k.div_ceil(BLOCK);
        if is_raw(case) {
            let w = Tensor::input("w", Dtype::I8, &[n, RAW * blocks]);
            return vec![x, w.holding(Content::ScaledBlocks { bytes: RAW }), y];
        }
        // The least of them is the smallest that f16 has.
        let scales = Content::Within { low: F16.smallest_subnormal(), high: 1.5 };
        vec![
            x,
            Tensor::input("s", Dtype::F16, &[n, blocks]).holding(scales),
            Tensor::input("q", Dtype::I8, &[n, BLOCK * blocks]),
            y,
        ]
    },
    work: |case| {
        let [m, n, k] = sizes(case).map(|size| size as u64);
        let counts = Counts { multiply_adds: k + k.div_ceil(BLOCK as u64), ..Counts::default() };
        whole::work(case, counts, m.saturating_mul(n))
    },
    judged: judged(|all, _, wanted| products(all, wanted, RIGHT)),
    mutants: &[
        mutant("the scale of the next block", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { block: |block, blocks| (block + 1) % blocks, ..RIGHT })
        }),
        mutant("the last block's scale for the whole sum", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { block: |_, blocks| blocks - 1, ..RIGHT })
        }),
        mutant("codes without their sign", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { code: |q| if q < 0.0 { q + 256.0 } else { q }, ..RIGHT })
        }),
        mutant("denormal scales taken for zero", Fill::Extreme, |all, _, wanted| {
            let scale = |s: f64| if s.abs() < power_of_two(-14) { 0.0 } else { s };
            products(all, wanted, How { scale, ..RIGHT })
        }),
        mutant("denormal scales halved", Fill::Extreme, |all, _, wanted| {
            let scale = |s: f64| if s.abs() < power_of_two(-14) { s / 2.0 } else { s };
            products(all, wanted, How { scale, ..RIGHT })
        }),
        mutant("remainder of k left out", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { terms: |k| k.saturating_sub(3).max(1), ..RIGHT })
        }),
    ],
};

/// Codes of a block, and its bytes where the scale stands before them.
const BLOCK: usize = 32;
const RAW: usize = BLOCK + 2;

fn sizes(case: &Case) -> [usize; 3] {
    ["m", "n", "k"].map(|axis| case.axis(axis))
}

fn is_raw(case: &Case) -> bool {
    case.variant == "raw"
}

/// How a kernel goes about it: the block whose scale it takes for one, of so many; what it reads scales and codes as; the
/// terms of its sums.
#[derive(Clone, Copy)]
struct How {
    block: fn(usize, usize) -> usize,
    scale: fn(f64) -> f64,
    code: fn(f64) -> f64,
    terms: fn(usize) -> usize,
}

const RIGHT: How = How { block: |block, _| block, scale: |s| s, code: |q| q, terms: |k| k };

/// The scale of a block, counted through all rows of W.
fn scale(all: &All, block: usize) -> f64 {
    if !is_raw(all.case()) {
        return all.raw(1, block);
    }
    let byte = |at: usize| u32::from(all.raw(1, block * RAW + at) as i8 as u8);
    F16.decode(byte(1) << 8 | byte(0))
}

/// The codes of a block.
fn codes(all: &All, block: usize) -> Vec<f64> {
    if is_raw(all.case()) { all.line(1, block * RAW + 2, BLOCK) } else { all.line(2, block * BLOCK, BLOCK) }
}

/// The wanted elements, a row of Y at a time.
fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [_, n, k] = sizes(all.case());
    let (terms, blocks) = ((how.terms)(k), k.div_ceil(BLOCK));
    let of_row = |wanted: &[usize]| {
        let row = wanted[0] / n;
        let x: Vec<Number> = (0..terms).map(|term| all.x(0, row * k + term)).collect();
        let element = |index: &usize| {
            let first = index % n * blocks;
            let of_block = |block: usize| {
                let scale = all.number((how.scale)(scale(all, first + (how.block)(block, blocks))));
                codes(all, first + block).into_iter().map(move |code| all.number((how.code)(code)) * scale)
            };
            let w: Vec<Number> = (0..blocks).flat_map(of_block).take(terms).collect();
            all.dot(&x, &w)
        };
        wanted.iter().map(element).collect::<Vec<_>>()
    };
    wanted.chunk_by(|one, next| one / n == next / n).flat_map(of_row).collect()
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach })
}

const fn mutant(name: &'static str, fill: Fill, formula: whole::Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

/// A row of X reaches a row of Y, one of W a column; codes beyond k reach nothing.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [m, n, k] = sizes(problem.case);
    let blocks = k.div_ceil(BLOCK);
    let (of_row, term) = match (tensor, is_raw(problem.case)) {
        (0, _) => return vec![Reach { output: 0, first: element / k * n, step: 1, count: n }],
        (1, false) => (blocks, None),
        (_, false) => (BLOCK * blocks, Some(element % (BLOCK * blocks))),
        // A scale is the first two bytes of its block.
        (_, true) => {
            let (block, byte) = (element % (RAW * blocks) / RAW, element % RAW);
            (RAW * blocks, byte.checked_sub(2).map(|code| block * BLOCK + code))
        }
    };
    let is_read = term.is_none_or(|term| term < k);
    is_read.then_some(Reach { output: 0, first: element / of_row, step: n, count: m }).into_iter().collect()
}
