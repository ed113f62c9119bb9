//! `q4k-matmul`: Y[m,n] = X[m,k] · Wᵀ, with weights in blocks of 256 codes of four bits, as GGML's Q4_K has them.
//!
//! A block is eight parts of 32 elements. A part has a scale s and an offset o of six bits each, and the block two numbers of
//! f16 that these are counted in, d and e: a code q stands for d·s·q − e·o. Bytes are d, e, twelve of scales and offsets, and
//! 128 of codes: of each 32, low halves are one part and high halves the next. How six bits lie is said at [`part`].

use super::matmul::{limit, weights};
use super::q8_matmul::{self, f16, sizes};
use crate::dtype::Dtype;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Judged, Operation, Problem, Reach, Variant, Work};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "q4k-matmul",
    also: &["q4-k-matmul"],
    about: "Y = X · Wᵀ, weights in blocks of 256 codes of four bits with scales and offsets of six (Q4_K)",
    variants: &[
        Variant { name: "", about: "w[n,144·blocks], the bytes of scales and offsets before their codes" },
        Variant { name: "fixed", about: "the same blocks in every launch: they may be packed" },
    ],
    precisions: &[Precision::of(Dtype::F32)],
    legal: "k % 256 == 0",
    tensors: |case| {
        let [m, n, k] = sizes(case);
        let w = Tensor::input("w", Dtype::I8, &[n, RAW * (k / BLOCK)]);
        vec![
            Tensor::input("x", case.dtype(), &[m, k]).limit(limit(case, k) / 8192.0),
            weights(case, w.holding(Content::ScaledBlocks { bytes: RAW, scales: 2 })),
            Tensor::output("y", case.precision.output, &[m, n]),
        ]
    },
    work: |case| {
        let [m, n, k] = sizes(case).map(|size| size as u64);
        let products =
            whole::work(case, Counts { multiply_adds: k, ..Counts::default() }, m.saturating_mul(n));
        // Scales and offsets meet the sums of parts, or the codes.
        let sums = m.saturating_mul(n).saturating_mul(2 * k / PART as u64);
        let multiply_adds = products.multiply_adds.saturating_add(sums.min(n.saturating_mul(k)));
        Work { multiply_adds, ..products }
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| products(all, wanted, RIGHT), reach }),
    mutants: &[
        mutant("offsets forgotten", |all, _, wanted| products(all, wanted, How { sign: 0.0, ..RIGHT })),
        mutant("offsets added", |all, _, wanted| products(all, wanted, How { sign: 1.0, ..RIGHT })),
        mutant("scales and offsets exchanged", |all, _, wanted| {
            let part = |bytes: &[u8], index| {
                let [scale, offset] = part(bytes, index);
                [offset, scale]
            };
            products(all, wanted, How { part, ..RIGHT })
        }),
        mutant("the upper bits of the last four scales forgotten", |all, _, wanted| {
            let part = |bytes: &[u8], index| {
                part(bytes, index).map(|number| if index < PARTS / 2 { number } else { number & 15 })
            };
            products(all, wanted, How { part, ..RIGHT })
        }),
        mutant("the first part's scale for all", |all, _, wanted| {
            products(all, wanted, How { part: |bytes, _| part(bytes, 0), ..RIGHT })
        }),
        mutant("the halves of a byte exchanged", |all, _, wanted| {
            let code = |codes: &[u8], element| code(codes, element ^ PART);
            products(all, wanted, How { code, ..RIGHT })
        }),
        mutant("neighbours in one byte", |all, _, wanted| {
            let code = |codes: &[u8], element: usize| codes[element / 2] >> (element % 2 * 4) & 15;
            products(all, wanted, How { code, ..RIGHT })
        }),
        mutant("codes from minus eight", |all, _, wanted| products(all, wanted, How { zero: 8.0, ..RIGHT })),
    ],
    ..q8_matmul::OPERATION
};

/// Elements of a block and of a part, and parts of a block.
const BLOCK: usize = 256;
const PART: usize = 32;
const PARTS: usize = BLOCK / PART;
/// Where the scales of parts and the codes begin, and the bytes of a block.
const SCALES: usize = 4;
const CODES: usize = SCALES + 12;
const RAW: usize = CODES + BLOCK / 2;

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// Scale and offset of a part, of twelve bytes.
    part: fn(&[u8], usize) -> [u8; 2],
    /// The code of an element.
    code: fn(&[u8], usize) -> u8,
    /// The code that stands for the offset alone.
    zero: f64,
    /// What an offset is taken times.
    sign: f64,
}

const RIGHT: How = How { part, code, zero: 0.0, sign: -1.0 };

/// The scale and the offset of a part. The first four have theirs in the lower six bits of bytes 0 to 3 and 4 to 7. The others
/// have the lower four bits in the halves of bytes 8 to 11, low and high, and the upper two where the first four leave two
/// bits over.
fn part(bytes: &[u8], index: usize) -> [u8; 2] {
    let first = |at: usize| bytes[at] & 63;
    let upper = |at: usize| bytes[at] >> 6 << 4;
    match index.checked_sub(PARTS / 2) {
        None => [first(index), first(index + 4)],
        Some(later) => [bytes[later + 8] & 15 | upper(later), bytes[later + 8] >> 4 | upper(later + 4)],
    }
}

/// The code of an element of a block.
fn code(codes: &[u8], element: usize) -> u8 {
    let (pair, within) = (element / (2 * PART), element % (2 * PART));
    codes[pair * PART + within % PART] >> (4 * (within / PART)) & 15
}

/// The wanted elements.
fn products<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [_, n, k] = sizes(all.case());
    let x = |row: usize| (0..k).map(|term| all.x(0, row * k + term)).collect();
    let blocks = k / BLOCK;
    let w = |row: usize| {
        let blocks = row * blocks..(row + 1) * blocks;
        blocks.flat_map(|block| numbers(all, &all.line(1, block * RAW, RAW), how)).collect()
    };
    all.products(wanted, n, x, w)
}

/// What the codes of a block stand for.
fn numbers<'a>(all: &All<'a>, block: &[f64], how: How) -> Vec<Number<'a>> {
    let bytes: Vec<u8> = block.iter().map(|byte| *byte as i8 as u8).collect();
    let (of_scales, of_offsets) = (all.number(f16(block)), all.number(f16(&block[2..])));
    let of_part = |index: usize| {
        let [scale, offset] = (how.part)(&bytes[SCALES..CODES], index).map(|six| all.number(f64::from(six)));
        (of_scales * scale, of_offsets * offset * how.sign)
    };
    let parts: Vec<(Number, Number)> = (0..PARTS).map(of_part).collect();
    let number = |element: usize| {
        let (scale, offset) = parts[element / PART];
        scale * (f64::from((how.code)(&bytes[CODES..], element)) - how.zero) + offset
    };
    (0..BLOCK).map(number).collect()
}

/// A row of X reaches a row of Y, one of W a column.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [m, n, k] = sizes(problem.case);
    vec![match tensor {
        0 => Reach { output: 0, first: element / k * n, step: 1, count: n },
        _ => Reach { output: 0, first: element / (k / BLOCK * RAW), step: n, count: m },
    }]
}
