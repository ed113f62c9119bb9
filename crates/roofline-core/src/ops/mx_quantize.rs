//! `mx-quantize`: codes of few bits in short blocks of a row, each block with a scale of eight.
//!
//! By the OCP's microscaling formats a scale is 2ᵉ, as the byte e + 127, with e the exponent of the largest magnitude less
//! that of the largest code, from −127 to 127; a block of zeros has the least. Quotients by it are exact, and a code is the
//! nearest number, ties to even, and never beyond the largest. By NVIDIA's recipe a scale is max|x| / 6t in fp8-e4m3, with t
//! given for the whole tensor, and quotients are those by s·t; a block whose scale is zero has codes of zero. There kernels
//! may round on the way, and near a tie either code is right.
//!
//! A code of four bits is a sign and three bits of a magnitude, 0 ½ 1 1½ 2 3 4 6; two neighbours of a row share a byte, the
//! first in its low half, and what is left over is zero. What rounds to zero keeps its sign.

use super::quantize::{self, TYPES};
use super::quantize_fp8::cut;
use crate::case::Case;
use crate::dtype::Dtype::{self, F32, Fp8E4m3, I8};
use crate::fill::Fill;
use crate::format::{FP8_E4M3, exponent_of, power_of_two};
use crate::number::Number;
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Judged, Mutant, Operation, Problem, Reach, Variant, Wrong};
use crate::tensor::{Content, Tensor};
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "mx-quantize",
    also: &["mx-quantise"],
    about: "codes of fp8 or fp4 in blocks of a row with a scale of eight bits each (MX, NVFP4)",
    variants: &[
        Variant { name: "", about: "fp8-e4m3, a power of two for each 32" },
        Variant { name: "fp4", about: "fp4-e2m1 in pairs, a power of two for each 32" },
        Variant {
            name: "nvfp4",
            about: "fp4-e2m1 in pairs, a scale in fp8-e4m3 for each 16 and one in f32 for all",
        },
    ],
    params: &[],
    precisions: TYPES,
    tensors: |case| {
        let [rows, cols] = sizes(case);
        let most = if is_paired(case) { MAGNITUDES[7] } else { FP8_E4M3.max_finite };
        let x = Tensor::input("x", case.dtype(), &[rows, cols]).holding(Content::Ties { most });
        let [q, s] = codes_and_scales(case, Tensor::output);
        let t = is_nv(case).then(|| Tensor::input("t", F32, &[1]).holding(Content::Scales));
        [x].into_iter().chain(t).chain([q, s]).collect()
    },
    judged: judged(|all, output, wanted| quantized(all, output, wanted, RIGHT)),
    mutants: &[
        mutant("scale of the maximum, not of the largest magnitude", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { size: |x| x, ..RIGHT })
        }),
        mutant("cut off, not rounded", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { four: at_most, eight: cut, ..RIGHT })
        }),
        mutant("the scale of the next block", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { beside: 1, ..RIGHT })
        }),
        Mutant {
            of: |case| !is_nv(case),
            ..mutant("exponents rounded up", Fill::Normal, |all, output, wanted| {
                quantized(all, output, wanted, How { more: 1, ..RIGHT })
            })
        },
        Mutant {
            of: |case| !is_paired(case),
            ..mutant("what passes the largest code is no number", Fill::Uniform, |all, output, wanted| {
                quantized(all, output, wanted, How { eight: |x| FP8_E4M3.round(x), ..RIGHT })
            })
        },
        Mutant {
            of: |case| case.variant == "fp4",
            ..mutant("ties away from zero", Fill::Integers, |all, output, wanted| {
                quantized(all, output, wanted, How { four: |x| nearest(x, |_| true), ..RIGHT })
            })
        },
        Mutant {
            of: is_paired,
            ..mutant("the halves of a byte exchanged", Fill::Normal, |all, output, wanted| {
                quantized(all, output, wanted, How { low: 1, ..RIGHT })
            })
        },
        Mutant {
            of: is_nv,
            ..mutant("the scale of the tensor forgotten", Fill::Normal, |all, output, wanted| {
                quantized(all, output, wanted, How { has_tensor: false, ..RIGHT })
            })
        },
        Mutant {
            of: is_nv,
            ..mutant("quotients by scales that are not rounded", Fill::Normal, |all, output, wanted| {
                quantized(all, output, wanted, How { is_held: false, ..RIGHT })
            })
        },
    ],
    ..quantize::OPERATION
};

/// What three bits of a magnitude stand for.
pub(super) const MAGNITUDES: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// What is added to the exponent of a scale to make it a byte, and the largest exponent.
pub(super) const BIAS: i32 = 127;

pub(super) fn sizes(case: &Case) -> [usize; 2] {
    ["rows", "cols"].map(|axis| case.axis(axis))
}

/// Whether two codes share a byte.
pub(super) fn is_paired(case: &Case) -> bool {
    !case.variant.is_empty()
}

pub(super) fn is_nv(case: &Case) -> bool {
    case.variant == "nvfp4"
}

/// Elements of a block, and blocks of a row.
pub(super) fn blocks(case: &Case) -> (usize, usize) {
    let block = if is_nv(case) { 16 } else { 32 };
    (block, case.axis("cols").div_ceil(block))
}

/// Bytes of the codes of a row.
fn bytes(case: &Case) -> usize {
    if is_paired(case) { case.axis("cols").div_ceil(2) } else { case.axis("cols") }
}

/// The byte of an element's code.
pub(super) fn byte_of(case: &Case, element: usize) -> usize {
    let cols = case.axis("cols");
    if is_paired(case) { element / cols * bytes(case) + element % cols / 2 } else { element }
}

/// The elements of a byte of codes.
pub(super) fn elements_of(case: &Case, byte: usize) -> Range<usize> {
    let (cols, bytes) = (case.axis("cols"), bytes(case));
    let (row, place) = (byte / bytes * cols, byte % bytes);
    if is_paired(case) { row + 2 * place..row + (2 * place + 2).min(cols) } else { byte..byte + 1 }
}

/// The block of an element.
pub(super) fn block_of(case: &Case, element: usize) -> usize {
    let (cols, (block, of_row)) = (case.axis("cols"), blocks(case));
    element / cols * of_row + element % cols / block
}

/// The elements of a block.
pub(super) fn members(case: &Case, index: usize) -> Range<usize> {
    let (cols, (block, of_row)) = (case.axis("cols"), blocks(case));
    let (row, first) = (index / of_row * cols, index % of_row * block);
    row + first..row + (first + block).min(cols)
}

/// Tensors of codes and of their scales, of the role that `tensor` makes.
pub(super) fn codes_and_scales(
    case: &Case,
    tensor: fn(&'static str, Dtype, &[usize]) -> Tensor,
) -> [Tensor; 2] {
    let rows = case.axis("rows");
    let (codes, scales) =
        (if is_paired(case) { I8 } else { Fp8E4m3 }, if is_nv(case) { Fp8E4m3 } else { I8 });
    [tensor("q", codes, &[rows, bytes(case)]), tensor("s", scales, &[rows, blocks(case).1])]
}

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// What the largest is taken of.
    size: for<'a> fn(Number<'a>) -> Number<'a>,
    /// How much larger than right the exponent of a scale is.
    more: i32,
    /// How far from its own the block is whose scale is taken.
    beside: usize,
    /// Whether the scale of the tensor is a part of the others, and whether quotients are by scales as they are written.
    has_tensor: bool,
    is_held: bool,
    /// The code of a magnitude in four bits, and the number of eight bits for one.
    four: fn(f64) -> usize,
    eight: fn(f64) -> f64,
    /// Which of two neighbours is in the low half of a byte.
    low: usize,
}

const RIGHT: How = How {
    size: |x| x.abs(),
    more: 0,
    beside: 0,
    has_tensor: true,
    is_held: true,
    four: |x| nearest(x, |code| code % 2 == 1),
    eight: saturated,
    low: 0,
};

/// The code next to a magnitude; in the middle of two, the upper one where `goes_up` says so of the lower.
fn nearest(x: f64, goes_up: fn(usize) -> bool) -> usize {
    let is_passed = |code: &usize| {
        let middle = (MAGNITUDES[*code] + MAGNITUDES[code + 1]) / 2.0;
        x > middle || x == middle && goes_up(*code)
    };
    (0..7).filter(is_passed).count()
}

/// The largest code of a magnitude that is not more.
fn at_most(x: f64) -> usize {
    (1..8).filter(|code| MAGNITUDES[*code] <= x).count()
}

fn saturated(x: f64) -> f64 {
    FP8_E4M3.round(x.clamp(-FP8_E4M3.max_finite, FP8_E4M3.max_finite))
}

/// A scale, as it is written and as quotients are taken by it.
struct Scale<'a> {
    written: Number<'a>,
    by: Number<'a>,
}

fn scale<'a>(all: &All<'a>, index: usize, how: How) -> Scale<'a> {
    let case = all.case();
    let most = all.max(members(case, index).map(|element| (how.size)(all.x(0, element))));
    if is_nv(case) {
        let tensor = if how.has_tensor { all.x(1, 0) } else { all.number(1.0) };
        // One rounding more than of quotients: kernels may multiply by reciprocals.
        let exact = most / 6.0 / tensor * 1.0;
        let written = exact.coded(|x| saturated(x.max(0.0)));
        return Scale { written, by: if how.is_held { written } else { exact } * tensor };
    }
    let largest = if is_paired(case) { MAGNITUDES[7] } else { FP8_E4M3.max_finite };
    let exponent = match most.value > 0.0 {
        true => exponent_of(most.value) - exponent_of(largest) + how.more,
        false => -BIAS,
    };
    let exponent = exponent.clamp(-BIAS, BIAS);
    let byte = (exponent + BIAS) as u8 as i8;
    Scale { written: all.number(f64::from(byte)), by: all.number(power_of_two(exponent)) }
}

/// The wanted codes, output 0, or scales.
fn quantized<'a>(all: &All<'a>, output: usize, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    if output == 1 {
        return wanted.iter().map(|index| scale(all, *index, how).written).collect();
    }
    let case = all.case();
    let count = sizes(case)[0] * blocks(case).1;
    let of = |byte: &usize| block_of(case, elements_of(case, *byte).start);
    let of_block = |wanted: &[usize]| {
        let by = scale(all, (of(&wanted[0]) + how.beside) % count, how).by;
        let quotient = |element: usize| {
            let quotient = all.x(0, element) / by;
            if is_nv(case) { quotient } else { quotient.exact() }
        };
        let code = |byte: &usize| match is_paired(case) {
            true => pair(all, elements_of(case, *byte).map(quotient), by, how),
            false => quotient(*byte).coded(how.eight),
        };
        wanted.iter().map(code).collect::<Vec<_>>()
    };
    wanted.chunk_by(|one, next| of(one) == of(next)).flat_map(of_block).collect()
}

/// The byte of the codes of two quotients, or of one. Where either of two codes is right, so is what lies between the bytes.
fn pair<'a>(
    all: &All<'a>,
    quotients: impl Iterator<Item = Number<'a>>,
    by: Number<'a>,
    how: How,
) -> Number<'a> {
    let (mut byte, mut apart) = (0, 0.0);
    for (place, quotient) in quotients.enumerate() {
        let shift = 4 * (place ^ how.low);
        let (code, error) = if quotient.value.is_finite() {
            let magnitude = quotient.abs().coded(|x| (how.four)(x) as f64);
            let sign = u8::from(quotient.value.is_sign_negative()) << 3;
            (sign | magnitude.value as u8, magnitude.error())
        } else {
            // Over a scale of zero, or of what others may round to more.
            (0, if by.error() > 0.0 { 15.0 } else { 0.0 })
        };
        byte |= code << shift;
        apart += error * f64::from(1 << shift);
    }
    all.within(f64::from(byte as i8), apart)
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach })
}

const fn mutant(name: &'static str, fill: Fill, formula: whole::Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

/// Its own code, where a change shows most; and by the scale of its block all codes that share it. The scale of the tensor
/// reaches scales: codes stay where these have the digits to make up for it.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let case = problem.case;
    if tensor == 1 {
        return vec![Reach { output: 1, first: 0, step: 1, count: sizes(case)[0] * blocks(case).1 }];
    }
    let block = block_of(case, element);
    let members = members(case, block);
    let (first, last) = (byte_of(case, members.start), byte_of(case, members.end - 1));
    vec![
        Reach { output: 0, first: byte_of(case, element), step: 1, count: 1 },
        Reach { output: 1, first: block, step: 1, count: 1 },
        Reach { output: 0, first, step: 1, count: last + 1 - first },
    ]
}
