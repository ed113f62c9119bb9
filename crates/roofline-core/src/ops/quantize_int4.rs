//! `quantize-int4`: codes q = round(x / s) from -7 to 7 with the scale s = max|x| / 7 of each row or of each block of it; a group
//! of zeros has the scale 1. Ties go to even.
//!
//! A code is four bits of two's complement; two neighbours of a row share a byte, the first in its low half, and what is left
//! over is zero.

use super::quantize::{self, Codes, How, TYPES, block, code, group, mutant, quantized, scale};
use crate::dtype::Dtype::{F32, I8};
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::whole::{All, Whole};
use crate::operation::{Judged, Operation, Problem, Reach, Variant};
use crate::tensor::{Content, Tensor};
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "quantize-int4",
    also: &["quantise-int4"],
    about: "q = round(x / s) in four bits, two in a byte, s = max|x| / 7, and 1 where all is zero",
    variants: &[
        Variant { name: "", about: "a scale for each row" },
        Variant { name: "block", about: "a scale for each block of a row" },
    ],
    params: &[block(32.0)],
    precisions: TYPES,
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).holding(Content::Ties { most: MOST }),
            Tensor::output("q", I8, &[rows, cols.div_ceil(2)]),
            Tensor::output("s", F32, &quantize::scales(case)),
        ]
    },
    judged: Judged::Whole(Whole {
        formula: |all, output, wanted| packed(all, output, wanted, RIGHT, 0),
        reach,
    }),
    mutants: &[
        mutant("the halves of a byte exchanged", Fill::Normal, |all, output, wanted| {
            packed(all, output, wanted, RIGHT, 1)
        }),
        mutant("cut off, not rounded", Fill::Normal, |all, output, wanted| {
            packed(all, output, wanted, How { round: |x, _| x.trunc().clamp(-MOST, MOST), ..RIGHT }, 0)
        }),
        mutant("a code of its own for zero", Fill::Normal, |all, output, wanted| {
            packed(all, output, wanted, How { round: |x, _| x.round_ties_even() + 8.0, ..RIGHT }, 0)
        }),
        mutant("scale for eight", Fill::Normal, |all, output, wanted| {
            packed(all, output, wanted, How { codes: |_| Codes { over: 8.0, ..CODES }, ..RIGHT }, 0)
        }),
        mutant("the scale of the next group", Fill::Normal, |all, output, wanted| {
            packed(all, output, wanted, How { beside: 1, ..RIGHT }, 0)
        }),
    ],
    ..quantize::OPERATION
};

/// The largest code.
const MOST: f64 = 7.0;
const CODES: Codes = Codes { dtype: I8, least: -MOST, most: MOST, over: MOST };
const RIGHT: How =
    How { codes: |_| CODES, round: |x, _| x.round_ties_even().clamp(-MOST, MOST), ..quantize::RIGHT };

/// The elements of a byte of codes.
fn elements_of(cols: usize, byte: usize) -> Range<usize> {
    let (row, place) = (byte / cols.div_ceil(2), byte % cols.div_ceil(2));
    row * cols + 2 * place..row * cols + (2 * place + 2).min(cols)
}

/// The wanted bytes of codes, output 0, or scales. `low` is which of two neighbours is in the low half.
fn packed<'a>(all: &All<'a>, output: usize, wanted: &[usize], how: How, low: usize) -> Vec<Number<'a>> {
    if output == 1 {
        return quantized(all, output, wanted, how);
    }
    let case = all.case();
    let groups: usize = quantize::scales(case).iter().product();
    // Neighbours mostly share a scale, and finding one is a walk through its group.
    let mut known: Option<(usize, Number<'a>)> = None;
    let mut scale_of = |element: usize| {
        let group = (group(case, element) + how.beside) % groups;
        match known {
            Some((of, scale)) if of == group => scale,
            _ => known.insert((group, scale(all, group, how))).1,
        }
    };
    let byte = |byte: &usize| {
        let (mut bits, mut emulated, mut apart) = (0, 0, 0.0);
        for (place, element) in elements_of(case.axis("cols"), *byte).enumerate() {
            let shift = 4 * (place ^ low);
            let code = code(all.x(0, element), scale_of(element), case, how);
            bits |= (code.value as i32 & 15) << shift;
            emulated |= (code.emulated as i32 & 15) << shift;
            // Of zero and minus one, no bit is the same.
            apart += if code.error() > 0.0 { f64::from(15 << shift) } else { 0.0 };
        }
        let mut number = all.within(f64::from(bits as u8 as i8), apart);
        number.emulated = f64::from(emulated as u8 as i8);
        number
    };
    wanted.iter().map(byte).collect()
}

/// Its own byte, where a change shows most; and by the scale of its group all bytes that share it.
fn reach(problem: &Problem, _tensor: usize, element: usize) -> Vec<Reach> {
    let (case, cols) = (problem.case, problem.case.axis("cols"));
    let byte_of = |element: usize| element / cols * cols.div_ceil(2) + element % cols / 2;
    let group = group(case, element);
    let members = quantize::members(case, group);
    let (first, last) = (byte_of(members.start), byte_of(members.end - 1));
    vec![
        Reach { output: 0, first: byte_of(element), step: 1, count: 1 },
        Reach { output: 1, first: group, step: 1, count: 1 },
        Reach { output: 0, first, step: 1, count: last + 1 - first },
    ]
}
