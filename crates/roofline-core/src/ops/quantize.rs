//! `quantize`: codes q = round(x / s) in i8 with the scale s = max|x| / 127 of each row, of the tensor or of each block of
//! a row; a group of zeros has the scale 1. Rows are the channels of weights, and the tokens of activations. `quantize.full`
//! spans -128 to 127: its scale is 2·max|x| / 255.
//!
//! A code is exact. Kernels differ in how they divide, in f32 or by a reciprocal, and so near a tie either code is right,
//! unless the scale is a power of two: then nothing is rounded on the way, and a tie goes where the form says.

use crate::case::Case;
use crate::dtype::Dtype::{self, Bf16, F16, F32};
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::family::{Line, rowwise};
use crate::operation::{Judged, Mutant, Operation, Param, Problem, RateUnit, Reach, Variant, Wrong};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "quantize",
    also: &["quantise"],
    about: "q = round(x / s) in i8, s = max|x| / 127, and 1 where all is zero",
    variants: &[
        Variant { name: "", about: "a scale for each row, ties to even" },
        Variant { name: "away", about: "a scale for each row, ties away from zero" },
        Variant { name: "tensor", about: "one scale, ties to even" },
        Variant { name: "tensor-away", about: "one scale, ties away from zero" },
        Variant { name: "block", about: "a scale for each block of a row, ties away from zero" },
        Variant { name: "block-even", about: "a scale for each block of a row, ties to even" },
        Variant {
            name: "full", about: "a scale 2·max|x| / 255 for each row, codes from -128, ties to even"
        },
    ],
    axes: rowwise::ROWS,
    params: &[block(32.0)],
    precisions: TYPES,
    fills: Fill::FINITE,
    rate: RateUnit::Bytes,
    legal: "",
    tensors: |case| tensors(case, RIGHT),
    work,
    judged: judged(|all, output, wanted| quantized(all, output, wanted, RIGHT)),
    mutants: &[
        mutant("scale of the maximum, not of the largest magnitude", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { size: |x| x, ..RIGHT })
        }),
        mutant("cut off, not rounded", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { round: |x, case| int8(case).within(x.trunc()), ..RIGHT })
        }),
        mutant("ties the other way", Fill::Integers, |all, output, wanted| {
            quantized(all, output, wanted, How { round: |x, case| nearest(x, case, !is_away(case)), ..RIGHT })
        }),
        mutant("scale rounded to bf16", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { held: Bf16, ..RIGHT })
        }),
        Mutant {
            of: has_groups,
            ..mutant("the scale of the next group", Fill::Normal, |all, output, wanted| {
                quantized(all, output, wanted, How { beside: 1, ..RIGHT })
            })
        },
        Mutant {
            of: has_groups,
            ..mutant("zeros over their own scale", Fill::Integers, |all, output, wanted| {
                quantized(all, output, wanted, How { of_zeros: 0.0, ..RIGHT })
            })
        },
        Mutant {
            of: |case| case.variant == "full",
            ..mutant("the lowest code left out", Fill::Integers, |all, output, wanted| {
                quantized(
                    all,
                    output,
                    wanted,
                    How { round: |x, case| nearest(x, case, false).max(-127.0), ..RIGHT },
                )
            })
        },
    ],
};

/// Codes that share a scale in the forms of blocks, usually so many.
pub(super) const fn block(usual: f64) -> Param {
    Param::new("block", "of the forms of blocks: codes that share a scale", usual, (1.0, 65536.0))
}

/// The types that are quantised, all by f32.
pub(super) const TYPES: &[Precision] = &[Precision::of(F32), Precision::of(Bf16), Precision::of(F16)];

/// What codes are: their type, the least and the largest, and what the largest magnitude becomes.
#[derive(Clone, Copy)]
pub(super) struct Codes {
    pub dtype: Dtype,
    pub least: f64,
    pub most: f64,
    pub over: f64,
}

impl Codes {
    fn within(self, code: f64) -> f64 {
        code.clamp(self.least, self.most)
    }
}

fn int8(case: &Case) -> Codes {
    let symmetric = Codes { dtype: Dtype::I8, least: -127.0, most: 127.0, over: 127.0 };
    if case.variant == "full" { Codes { least: -128.0, over: 127.5, ..symmetric } } else { symmetric }
}

/// How a kernel goes about it.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// What its codes are.
    pub codes: fn(&Case) -> Codes,
    /// What the largest is taken of.
    pub size: for<'a> fn(Number<'a>) -> Number<'a>,
    /// The scale of a group of zeros.
    pub of_zeros: f64,
    /// What the scale is rounded to.
    pub held: Dtype,
    /// How far from its own the group is whose scale is taken.
    pub beside: usize,
    /// The code of a quotient.
    pub round: fn(f64, &Case) -> f64,
}

pub(super) const RIGHT: How = How {
    codes: int8,
    size: |x| x.abs(),
    of_zeros: 1.0,
    held: F32,
    beside: 0,
    round: |x, case| nearest(x, case, is_away(case)),
};

fn is_away(case: &Case) -> bool {
    matches!(case.variant, "away" | "tensor-away" | "block")
}

fn nearest(x: f64, case: &Case, away: bool) -> f64 {
    int8(case).within(if away { x.round() } else { x.round_ties_even() })
}

/// Whether there is more than one scale.
pub(super) fn has_groups(case: &Case) -> bool {
    !case.variant.starts_with("tensor")
}

fn has_blocks(case: &Case) -> bool {
    case.variant.starts_with("block")
}

/// Elements of a row that share a scale, and groups of a row.
pub(super) fn groups(case: &Case) -> (usize, usize) {
    let cols = case.axis("cols").max(1);
    let shared = if has_blocks(case) { (case.param("block") as usize).clamp(1, cols) } else { cols };
    (shared, cols.div_ceil(shared))
}

/// The shape of the scales.
pub(super) fn scales(case: &Case) -> Vec<usize> {
    match case.variant {
        _ if !has_groups(case) => vec![1],
        _ if has_blocks(case) => vec![case.axis("rows"), groups(case).1],
        _ => vec![case.axis("rows")],
    }
}

/// The group of an element.
pub(super) fn group(case: &Case, element: usize) -> usize {
    let cols = case.axis("cols");
    let (shared, of_row) = groups(case);
    if has_groups(case) { element / cols * of_row + element % cols / shared } else { 0 }
}

/// The elements of a group.
pub(super) fn members(case: &Case, group: usize) -> Range<usize> {
    let [rows, cols] = ["rows", "cols"].map(|axis| case.axis(axis));
    if !has_groups(case) {
        return 0..rows * cols;
    }
    let (shared, of_row) = groups(case);
    let (row, within) = (group / of_row, group % of_row * shared);
    row * cols + within..row * cols + (within + shared).min(cols)
}

pub(super) fn tensors(case: &Case, how: How) -> Vec<Tensor> {
    let (rows, cols) = (case.axis("rows"), case.axis("cols"));
    let codes = (how.codes)(case);
    vec![
        Tensor::input("x", case.dtype(), &[rows, cols]).holding(Content::Ties { most: codes.over }),
        Tensor::output("q", codes.dtype, &[rows, cols]),
        Tensor::output("s", F32, &scales(case)),
    ]
}

/// A comparison, a quotient and a rounding for each element.
pub(super) fn work(case: &Case) -> crate::operation::Work {
    let [rows, cols] = ["rows", "cols"].map(|axis| case.axis(axis) as u64);
    whole::work(case, Counts { simple: 3, ..Counts::default() }, rows.saturating_mul(cols))
}

/// The wanted codes, output 0, or scales.
pub(super) fn quantized<'a>(all: &All<'a>, output: usize, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    if output == 1 {
        return wanted.iter().map(|group| scale(all, *group, how)).collect();
    }
    let case = all.case();
    let all_groups: usize = scales(case).iter().product();
    let of = |element: &usize| group(case, *element);
    let of_group = |wanted: &[usize]| {
        let scale = scale(all, (of(&wanted[0]) + how.beside) % all_groups, how);
        wanted.iter().map(|element| code(all.x(0, *element), scale, case, how)).collect::<Vec<_>>()
    };
    wanted.chunk_by(|one, next| of(one) == of(next)).flat_map(of_group).collect()
}

/// The scale of a group.
pub(super) fn scale<'a>(all: &All<'a>, group: usize, how: How) -> Number<'a> {
    let elements = members(all.case(), group);
    let most = all.max(elements.map(|element| (how.size)(all.x(0, element))));
    scale_of(most, all.number(how.of_zeros), all.case(), how)
}

/// The scale that takes the largest of a group to the largest code, and that of zeros.
pub(super) fn scale_of<'a>(most: Number<'a>, of_zeros: Number<'a>, case: &Case, how: How) -> Number<'a> {
    if most.value == 0.0 {
        return of_zeros;
    }
    // One rounding more than of a quotient: kernels may multiply by a reciprocal.
    let scale = most / (how.codes)(case).over * 1.0;
    if how.held == F32 { scale } else { scale.written(how.held) }
}

/// The code of a number under a scale.
pub(super) fn code<'a>(x: Number<'a>, scale: Number<'a>, case: &Case, how: How) -> Number<'a> {
    let quotient = x / scale.written(F32);
    let is_exact = x.error() == 0.0 && is_power_of_two(scale.value);
    let quotient = if is_exact { quotient.exact() } else { quotient };
    quotient.coded(|x| (how.round)(x, case))
}

/// What a line of results becomes that are quantised where they are computed: its codes, or its one scale.
///
/// Results come as they are, and where the precision says that they may be rounded halfway, in all the ways that kernels
/// have them which do one thing after the other. Where that makes a difference, either is right.
pub(super) fn of_results<'a>(
    line: &Line<'a>,
    ways: Vec<Vec<Number<'a>>>,
    is_scale: bool,
    how: How,
) -> Vec<Number<'a>> {
    let one_way = |results: Vec<Number<'a>>| {
        let most = line.max_each(results.iter().map(|x| (how.size)(*x)));
        let scale = scale_of(most, line.number(how.of_zeros), line.case(), how);
        if is_scale {
            return vec![scale];
        }
        results.into_iter().map(|x| code(x, scale, line.case(), how)).collect()
    };
    let mut ways = ways.into_iter();
    let first = ways.next().map(one_way).unwrap_or_default();
    let either = |known: Vec<Number<'a>>, results| {
        let others = line.uncounted(|| one_way(results));
        known.into_iter().zip(others).map(|(one, other)| one.either(other)).collect()
    };
    ways.fold(first, either)
}

/// Codes and scales of each row of results, of the type that the form says.
pub(super) fn row_tensors(case: &Case) -> [Tensor; 2] {
    let (rows, cols) = (case.axis("rows"), case.axis("cols"));
    [
        Tensor::output("q", (of_form(case).codes)(case).dtype, &[rows, cols]),
        Tensor::output("s", F32, &[rows]).beside(&[rows, 1]),
    ]
}

/// The types of what is quantised where it is computed, and 16 bits that it may be rounded to before.
pub(super) const RESULTS: &[Precision] =
    &[Precision::of(F32), Precision::of(Bf16), Precision::of(F16), Precision::BF16_P16, Precision::F16_P16];

/// Results as a kernel reads them again that wrote them halfway.
pub(super) fn halfway<'a>(results: &[Number<'a>], dtype: Dtype) -> Vec<Number<'a>> {
    results.iter().map(|result| result.written(dtype)).collect()
}

/// The forms of what is quantised row by row where it is computed.
pub(super) const ROW_FORMS: &[Variant] = &[
    Variant { name: "", about: "codes in i8, s = max|y| / 127, ties to even" },
    Variant { name: "fp8", about: "codes in fp8-e4m3, s = max|y| / 448" },
];

/// How those are quantised.
pub(super) fn of_form(case: &Case) -> How {
    if case.variant == "fp8" { super::quantize_fp8::RIGHT } else { RIGHT }
}

fn is_power_of_two(x: f64) -> bool {
    x.is_normal() && x.to_bits().trailing_zeros() >= 52
}

pub(super) const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach })
}

pub(super) const fn mutant(name: &'static str, fill: Fill, formula: whole::Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

/// Its own code, where a change shows most; and by the scale of its group all codes that share it.
fn reach(problem: &Problem, _tensor: usize, element: usize) -> Vec<Reach> {
    let case = problem.case;
    let group = group(case, element);
    let codes = members(case, group);
    vec![
        Reach { output: 0, first: element, step: 1, count: 1 },
        Reach { output: 1, first: group, step: 1, count: 1 },
        Reach { output: 0, first: codes.start, step: 1, count: codes.len() },
    ]
}
