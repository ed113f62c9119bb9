//! `mx-dequantize`: y = q · s, of codes and scales as `mx-quantize` leaves them, and y = q · s · t where one scale is the
//! tensor's.
//!
//! By powers of two nothing is rounded but what leaves the range of a type. The byte 255 of a scale stands for no number.

use super::dequantize;
use super::mx_quantize::{
    self, BIAS, MAGNITUDES, block_of, blocks, byte_of, codes_and_scales, elements_of, is_nv, is_paired,
    members, sizes,
};
use crate::dtype::Dtype::{Bf16, F32};
use crate::fill::Fill;
use crate::format::power_of_two;
use crate::number::Number;
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Judged, Mutant, Operation, Problem, Reach, Wrong};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "mx-dequantize",
    also: &["mx-dequantise"],
    about: "y = q · s, codes of fp8 or fp4 in blocks of a row with a scale of eight bits each (MX, NVFP4)",
    // Of types that have the exponents of scales.
    precisions: &[Precision::of(F32), Precision::of(Bf16)],
    tensors: |case| {
        let [q, s] = codes_and_scales(case, Tensor::input);
        let q = if is_paired(case) { q.holding(Content::Codes) } else { q };
        let s = s.holding(if is_nv(case) { Content::Scales } else { Content::Powers });
        let t = is_nv(case).then(|| Tensor::input("t", F32, &[1]).holding(Content::Scales));
        let y = Tensor::output("y", case.precision.output, &sizes(case));
        [q, s].into_iter().chain(t).chain([y]).collect()
    },
    work: dequantize::OPERATION.work,
    judged: judged(|all, _, wanted| scaled(all, wanted, RIGHT)),
    mutants: &[
        mutant("the scale of the next block", |all, _, wanted| {
            scaled(all, wanted, How { block: |block, blocks| (block + 1) % blocks, ..RIGHT })
        }),
        mutant("the first scale for all", |all, _, wanted| {
            scaled(all, wanted, How { block: |_, _| 0, ..RIGHT })
        }),
        Mutant {
            of: |case| !is_nv(case),
            ..mutant("exponents from 128", |all, _, wanted| {
                scaled(all, wanted, How { bias: BIAS + 1, ..RIGHT })
            })
        },
        Mutant {
            of: is_paired,
            ..mutant("the halves of a byte exchanged", |all, _, wanted| {
                scaled(all, wanted, How { code: |pair, place| code(pair, place + 1), ..RIGHT })
            })
        },
        Mutant {
            of: is_paired,
            ..mutant("codes without their sign", |all, _, wanted| {
                scaled(all, wanted, How { code: |pair, place| code(pair, place).abs(), ..RIGHT })
            })
        },
        Mutant {
            of: is_paired,
            ..mutant("codes as whole numbers", |all, _, wanted| {
                let code = |pair: f64, place: usize| {
                    f64::from((pair as i8 as u8 >> (place % 2 * 4) << 4) as i8 >> 4)
                };
                scaled(all, wanted, How { code, ..RIGHT })
            })
        },
        Mutant {
            of: is_nv,
            ..mutant("the scale of the tensor forgotten", |all, _, wanted| {
                scaled(all, wanted, How { has_tensor: false, ..RIGHT })
            })
        },
    ],
    ..mx_quantize::OPERATION
};

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct How {
    /// The block whose scale it takes for one, of so many.
    block: fn(usize, usize) -> usize,
    /// What it takes off a byte to have the exponent of a scale.
    bias: i32,
    /// What it reads from a byte of two codes for the element at a place of its row.
    code: fn(f64, usize) -> f64,
    has_tensor: bool,
}

const RIGHT: How = How { block: |block, _| block, bias: BIAS, code, has_tensor: true };

/// What the code of an element stands for, from the byte that it shares.
fn code(pair: f64, place: usize) -> f64 {
    let code = pair as i8 as u8 >> (place % 2 * 4) & 15;
    let magnitude = MAGNITUDES[usize::from(code & 7)];
    if code & 8 == 0 { magnitude } else { -magnitude }
}

/// The wanted elements.
fn scaled<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let case = all.case();
    let [rows, cols] = sizes(case);
    let blocks = rows * blocks(case).1;
    let element = |element: &usize| {
        let byte = all.raw(0, byte_of(case, *element));
        let code = all.number(if is_paired(case) { (how.code)(byte, element % cols) } else { byte });
        let scale = all.raw(1, (how.block)(block_of(case, *element), blocks));
        if is_nv(case) {
            let scaled = code * all.number(scale);
            return if how.has_tensor { scaled * all.x(2, 0) } else { scaled };
        }
        match scale as i8 as u8 {
            u8::MAX => all.number(f64::NAN).exact(),
            byte => (code * power_of_two(i32::from(byte) - how.bias)).exact(),
        }
    };
    wanted.iter().map(element).collect()
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach })
}

const fn mutant(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

/// A byte of codes reaches their elements, a scale those of its block, and that of the tensor all.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let case = problem.case;
    let reached: Range<usize> = match tensor {
        0 => elements_of(case, element),
        1 => members(case, element),
        _ => 0..sizes(case).iter().product(),
    };
    vec![Reach { output: 0, first: reached.start, step: 1, count: reached.len() }]
}
