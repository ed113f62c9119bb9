//! `quantize-u8`: codes q = round(x / s) + z in u8, with the scale s = (most − least) / 255 and the code z = round(−least / s) of
//! zero, of each row or of the tensor. Ties go to even.
//!
//! Zero counts among the elements, as libraries have it: else rows that are far from it would have no code of zero, and all
//! their numbers one code. A group of zeros has the scale 1 and the code 0. Near a tie either code is right, of numbers and of
//! zero.

use super::quantize::{self, How, code, group, has_groups, members, scales};
use crate::case::Case;
use crate::dtype::Dtype::{F32, U8};
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Judged, Mutant, Operation, Problem, Reach, Variant, Wrong};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "quantize-u8",
    also: &["quantise-u8"],
    about: "q = round(x / s) + z in u8, s = (max(x, 0) - min(x, 0)) / 255, z the code of zero",
    variants: &[
        Variant { name: "", about: "s and z for each row" },
        Variant { name: "tensor", about: "one s and one z" },
    ],
    params: &[],
    // Of 16 bits, the ends of a range are often the same but for their sign, and zero lies in the middle of two codes.
    precisions: &[Precision::of(F32)],
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).holding(Content::Ties { most: 127.5 }),
            Tensor::output("q", U8, &[rows, cols]),
            Tensor::output("s", F32, &scales(case)),
            Tensor::output("z", U8, &scales(case)),
        ]
    },
    judged: judged(|all, output, wanted| quantized(all, output, wanted, RIGHT)),
    mutants: &[
        mutant("over 256", |all, output, wanted| {
            quantized(all, output, wanted, Way { over: 256.0, ..RIGHT })
        }),
        mutant("cut off, not rounded", |all, output, wanted| {
            quantized(all, output, wanted, Way { how: How { round: |x, _| x.trunc(), ..NEAREST }, ..RIGHT })
        }),
        mutant("the code of zero forgotten", |all, output, wanted| {
            quantized(all, output, wanted, Way { of_zero: 0.0, ..RIGHT })
        }),
        Mutant {
            of: has_groups,
            ..mutant("the scale of the next group", |all, output, wanted| {
                quantized(all, output, wanted, Way { beside: 1, ..RIGHT })
            })
        },
    ],
    ..quantize::OPERATION
};

/// How a kernel goes about it.
#[derive(Clone, Copy)]
struct Way {
    over: f64,
    /// How often the code of zero is added.
    of_zero: f64,
    /// How far from its own the group is whose scale is taken.
    beside: usize,
    how: How,
}

const RIGHT: Way = Way { over: 255.0, of_zero: 1.0, beside: 0, how: NEAREST };
const NEAREST: How = How { round: |x, _| x.round_ties_even(), ..quantize::RIGHT };

/// The scale of a group, and the least of its elements.
fn scale<'a>(all: &All<'a>, group: usize, way: Way) -> (Number<'a>, Number<'a>) {
    let elements = || members(all.case(), group).map(|element| all.x(0, element));
    let zero = all.number(0.0);
    let most = all.max(elements().chain([zero]));
    let least = -all.max(elements().chain([zero]).map(|x| -x));
    if most.value == least.value {
        return (all.number(1.0), least);
    }
    // One rounding more than of a quotient: kernels may multiply by a reciprocal.
    ((most - least) / way.over * 1.0, least)
}

/// The wanted codes, output 0, scales, or codes of zero.
fn quantized<'a>(all: &All<'a>, output: usize, wanted: &[usize], way: Way) -> Vec<Number<'a>> {
    let case = all.case();
    let zero = |scale: Number<'a>, least: Number<'a>| code(-least, scale, case, way.how).between(0.0, 255.0);
    let of_group = |group: usize| {
        let (scale, least) = scale(all, group, way);
        if output == 1 { scale } else { zero(scale, least) }
    };
    if output > 0 {
        return wanted.iter().map(|group| of_group(*group)).collect();
    }
    let groups: usize = scales(case).iter().product();
    let codes = |wanted: &[usize]| {
        let (scale, least) = scale(all, (group(case, wanted[0]) + way.beside) % groups, way);
        let zero = zero(scale, least);
        let element = |element: &usize| {
            let code = code(all.x(0, *element), scale, case, way.how);
            // Whole numbers, whose sum is exact.
            let mut sum = all.within(code.value + way.of_zero * zero.value, code.error() + zero.error());
            sum.emulated = code.emulated + way.of_zero * zero.emulated;
            sum.between(0.0, 255.0)
        };
        wanted.iter().map(element).collect::<Vec<_>>()
    };
    wanted.chunk_by(|one, next| group(case, *one) == group(case, *next)).flat_map(codes).collect()
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach })
}

const fn mutant(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

/// Its own code, where a change shows most; and by scale and zero all codes of its group.
fn reach(problem: &Problem, _tensor: usize, element: usize) -> Vec<Reach> {
    let case: &Case = problem.case;
    let group = group(case, element);
    let codes = members(case, group);
    vec![
        Reach { output: 0, first: element, step: 1, count: 1 },
        Reach { output: 1, first: group, step: 1, count: 1 },
        Reach { output: 2, first: group, step: 1, count: 1 },
        Reach { output: 0, first: codes.start, step: 1, count: codes.len() },
    ]
}
