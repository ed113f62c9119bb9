//! `q8-matmul`: Y[m,n] = X[m,k] · Wᵀ, with weights in blocks of 32 codes of i8 and a scale in f16, as GGML's Q8_0 has them.
//!
//! A row of W is whole blocks, and codes beyond k stand for nothing, whatever they are. Kernels apply scales to the sum of a
//! block or to every code; the model is that of the latter, which rounds more.
//!
//! In `f32+q8` a row of X becomes Q8_0 on the way, as GGML has it, for sums of integers: codes round(x / d) of 32 elements with
//! d = max|x| / 127, which is then held in f16. Near a tie either code is right, and either scale.

use super::matmul::{K, M, N, limit, weights};
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
        FIXED,
    ],
    axes: &[M, N, K],
    params: &[],
    precisions: &[Precision::of(Dtype::F32), Precision::F32_Q8],
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: "",
    tensors: |case| {
        let [n, k] = ["n", "k"].map(|axis| case.axis(axis));
        tensors(case, BLOCK, Tensor::input("q", Dtype::I8, &[n, BLOCK * k.div_ceil(BLOCK)]))
    },
    work: |case| {
        let [m, n, k] = sizes(case).map(|size| size as u64);
        let counts = Counts { multiply_adds: k + k.div_ceil(BLOCK as u64), ..Counts::default() };
        whole::work(case, counts, m.saturating_mul(n))
    },
    judged: judged::<BLOCK>(|all, _, wanted| products(all, wanted, RIGHT)),
    mutants: &[
        mutant::<BLOCK>("the scale of the next block", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { block: |block, blocks| (block + 1) % blocks, ..RIGHT })
        }),
        mutant::<BLOCK>("the last block's scale for the whole sum", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { block: |_, blocks| blocks - 1, ..RIGHT })
        }),
        mutant::<BLOCK>("codes without their sign", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { code: |codes, i| f64::from(byte(codes, i)), ..RIGHT })
        }),
        mutant::<BLOCK>("denormal scales taken for zero", Fill::Extreme, |all, _, wanted| {
            let scale = |s: f64| if s.abs() < power_of_two(-14) { 0.0 } else { s };
            products(all, wanted, How { scale, ..RIGHT })
        }),
        mutant::<BLOCK>("denormal scales halved", Fill::Extreme, |all, _, wanted| {
            let scale = |s: f64| if s.abs() < power_of_two(-14) { s / 2.0 } else { s };
            products(all, wanted, How { scale, ..RIGHT })
        }),
        mutant::<BLOCK>("remainder of k left out", Fill::Normal, |all, _, wanted| {
            products(all, wanted, How { terms: without_remainder, ..RIGHT })
        }),
        Mutant {
            of: is_rounded,
            ..mutant::<BLOCK>("the first block of X for all", Fill::Normal, |all, _, wanted| {
                products(all, wanted, How { of_x: |_| 0, ..RIGHT })
            })
        },
    ],
};

pub(super) const FIXED: Variant =
    Variant { name: "fixed", about: "scales and codes apart, the same in every launch: they may be packed" };

/// Elements of a block, and the bytes of its scale, which stand before those of its codes where they are not apart.
pub(super) const BLOCK: usize = 32;
const SCALE: usize = 2;

pub(super) fn sizes(case: &Case) -> [usize; 3] {
    ["m", "n", "k"].map(|axis| case.axis(axis))
}

/// Whether X becomes codes on the way.
pub(super) fn is_rounded(case: &Case) -> bool {
    case.precision.halfway.is_some()
}

fn is_raw(case: &Case) -> bool {
    case.variant == "raw"
}

/// X, the scales and codes of W or the blocks of both, of so many bytes of codes, and Y.
pub(super) fn tensors(case: &Case, bytes: usize, codes: Tensor) -> Vec<Tensor> {
    let [m, n, k] = sizes(case);
    let blocks = k.div_ceil(BLOCK);
    // Scales of X must be numbers of f16.
    let most = if is_rounded(case) { BLOCK as f64 * F16.max_finite } else { f64::INFINITY };
    let x = Tensor::input("x", case.dtype(), &[m, k]).limit((limit(case, k) / 1024.0).min(most));
    let y = Tensor::output("y", case.precision.output, &[m, n]);
    if is_raw(case) {
        let bytes = SCALE + bytes;
        let w = Tensor::input("w", Dtype::I8, &[n, bytes * blocks]);
        return vec![x, w.holding(Content::ScaledBlocks { bytes, scales: 1 }), y];
    }
    // The least of them is the smallest that f16 has.
    let scales = Content::Within { low: F16.smallest_subnormal(), high: 1.5 };
    let scales = Tensor::input("s", Dtype::F16, &[n, blocks]).holding(scales);
    vec![x, weights(case, scales), weights(case, codes), y]
}

/// How a kernel goes about it.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// Bytes of the codes of a block.
    pub bytes: usize,
    /// The block whose scale it takes for one, of so many.
    pub block: fn(usize, usize) -> usize,
    /// What it reads a scale as.
    pub scale: fn(f64) -> f64,
    /// What it reads for an element of a block from the bytes of its codes.
    pub code: fn(&[f64], usize) -> f64,
    /// Terms of its sums.
    pub terms: fn(usize) -> usize,
    /// The block of X that it takes for one, where X becomes codes.
    pub of_x: fn(usize) -> usize,
}

pub(super) const RIGHT: How = How {
    bytes: BLOCK,
    block: |block, _| block,
    scale: |s| s,
    code: |codes, element| codes[element],
    terms: |k| k,
    of_x: |block| block,
};

/// A byte among signed numbers.
pub(super) fn byte(bytes: &[f64], at: usize) -> u8 {
    bytes[at] as i8 as u8
}

/// The terms that a kernel has which forgets the last three.
pub(super) fn without_remainder(k: usize) -> usize {
    k.saturating_sub(3).max(1)
}

/// The scale of a block, counted through all rows of W, that has so many bytes of codes.
fn scale(all: &All, block: usize, bytes: usize) -> f64 {
    let is_raw = is_raw(all.case());
    if is_raw { f16(&all.line(1, block * (SCALE + bytes), SCALE)) } else { all.raw(1, block) }
}

/// The bytes of its codes.
fn codes(all: &All, block: usize, bytes: usize) -> Vec<f64> {
    let is_raw = is_raw(all.case());
    if is_raw {
        all.line(1, block * (SCALE + bytes) + SCALE, bytes)
    } else {
        all.line(2, block * bytes, bytes)
    }
}

/// A number in f16, of its low byte and its high one.
pub(super) fn f16(bytes: &[f64]) -> f64 {
    F16.decode(u32::from(byte(bytes, 1)) << 8 | u32::from(byte(bytes, 0)))
}

/// The wanted elements.
pub(super) fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [_, n, k] = sizes(all.case());
    let (terms, blocks) = ((how.terms)(k), k.div_ceil(BLOCK));
    let x = |row: usize| match is_rounded(all.case()) {
        true => (0..blocks).flat_map(|place| rounded(all, row, (how.of_x)(place))).take(terms).collect(),
        false => (0..terms).map(|term| all.x(0, row * k + term)).collect(),
    };
    let w = |row: usize| {
        let of_block = |place: usize| {
            let scale = scale(all, row * blocks + (how.block)(place, blocks), how.bytes);
            let scale = all.number((how.scale)(scale));
            let codes = codes(all, row * blocks + place, how.bytes);
            (0..BLOCK).map(move |element| all.number((how.code)(&codes, element)) * scale)
        };
        (0..blocks).flat_map(of_block).take(terms).collect()
    };
    all.products(wanted, n, x, w)
}

/// A block of a row of X, as its codes and the scale in f16 have it.
fn rounded<'a>(all: &All<'a>, row: usize, block: usize) -> Vec<Number<'a>> {
    let k = all.axis("k");
    let x: Vec<Number> = (block * BLOCK..k.min((block + 1) * BLOCK)).map(|i| all.x(0, row * k + i)).collect();
    let most = all.max(x.iter().map(|x| x.abs()));
    if most.value == 0.0 {
        return x;
    }
    // One rounding more than of a quotient: kernels may multiply by a reciprocal.
    let scale = most / 127.0 * 1.0;
    let held = scale.coded(|scale| F16.round(scale));
    x.into_iter().map(|x| (x / scale).coded(|x| x.round().clamp(-127.0, 127.0)) * held).collect()
}

/// By a formula over blocks of so many bytes of codes.
pub(super) const fn judged<const BYTES: usize>(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach: reach::<BYTES> })
}

pub(super) const fn mutant<const BYTES: usize>(
    name: &'static str,
    fill: Fill,
    formula: whole::Formula,
) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(judged::<BYTES>(formula)) }
}

/// A row of X reaches a row of Y, one of W a column; codes beyond k reach nothing.
fn reach<const BYTES: usize>(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [m, n, k] = sizes(problem.case);
    let blocks = k.div_ceil(BLOCK);
    let (of_row, code) = match (tensor, is_raw(problem.case)) {
        (0, _) => return vec![Reach { output: 0, first: element / k * n, step: 1, count: n }],
        (1, false) => (blocks, None),
        (_, false) => (BYTES * blocks, Some(element)),
        (_, true) => {
            let (block, byte) = (element / (SCALE + BYTES), element % (SCALE + BYTES));
            ((SCALE + BYTES) * blocks, byte.checked_sub(SCALE).map(|code| block * BYTES + code))
        }
    };
    // Of several codes in a byte, the first is that of the least element.
    let is_read = |code: usize| code / BYTES % blocks * BLOCK + code % BYTES < k;
    let reaches = code.is_none_or(is_read);
    reaches.then_some(Reach { output: 0, first: element / of_row, step: n, count: m }).into_iter().collect()
}
