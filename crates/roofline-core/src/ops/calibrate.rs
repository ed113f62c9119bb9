//! `calibrate`: the scale that a tensor is quantised with, by its largest magnitude, by one that few are above, by what codes
//! leave, or lose of its histogram, or by what the rows before had.
//!
//! Of scales that leave nearly the same, kernels find one or the other: `calibrate.mse` and `calibrate.entropy` are judged by what
//! their scale leaves, and loses.

mod entropy;

use super::quantize::TYPES;
use crate::case::Case;
use crate::dtype::Dtype::F32;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::{Line, rowwise, work};
use crate::operation::{Judged, Mutant, Operation, Param, Problem, Property, Variant, Wrong};
use crate::tensor::{Tensor, View};

pub const OPERATION: Operation = Operation {
    name: "calibrate",
    about: "s = the scale that codes of a tensor have",
    variants: &[
        Variant { name: "", about: "max|x| / 127, and 1 where all is zero" },
        Variant {
            name: "percentile",
            about: "of |x| the least that so many in a hundred are not above, over 127",
        },
        Variant {
            name: "mse",
            about: "a scale up to max|x| / 127 whose codes leave no more squares than those of its twentieths",
        },
        Variant {
            name: "entropy",
            about: "of cuts of the histogram of |x| in 2048 bins the one whose 128 levels diverge least, over 127",
        },
        Variant {
            name: "average",
            about: "m / 127 with the moving average m of max|x| of each row: m + averaging · (max|x| - m)",
        },
    ],
    params: &[
        Param::new("percentile", "of `percentile`: how many in a hundred", 99.9, (0.0, 100.0)),
        Param::new("averaging", "of `average`: how much a row counts", 0.01, (0.0, 1.0)),
    ],
    precisions: TYPES,
    fills: Fill::FINITE,
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).whole().rising(16.0).sorted_by(),
            Tensor::output("s", F32, &[1]),
        ]
    },
    // A look at each number, and a quotient.
    work: |case| {
        let [rows, cols] = ["rows", "cols"].map(|axis| case.axis(axis) as u64);
        work(case, Counts { simple: 1, ..Counts::default() }, rows.saturating_mul(cols))
    },
    judged: Judged::Forms(&[
        ("", rowwise::rows(|line, _| over(line, line.max_each(line.each(0).map(Number::abs))))),
        ("percentile", rowwise::rows(|line, _| over(line, ranked(line, 0)))),
        (
            "mse",
            Judged::Property(Property { check, example: |problem| vec![vec![best(&values(problem)).0]] }),
        ),
        (
            "entropy",
            Judged::Property(Property {
                check: entropy::check,
                example: |problem| entropy::found(problem, entropy::RIGHT),
            }),
        ),
        (
            "average",
            rowwise::rows(|line, _| over(line, averaged(line, |m, row, share| m + (row - m) * share))),
        ),
    ]),
    mutants: &[
        of("", "the maximum, not the largest magnitude", |line, _| over(line, line.max_each(line.each(0)))),
        of("", "over 128", |line, _| vec![line.max_each(line.each(0).map(Number::abs)) / 128.0]),
        of("percentile", "the percentile ignored", |line, _| {
            over(line, line.max_each(line.each(0).map(Number::abs)))
        }),
        of("percentile", "one rank too low", |line, _| over(line, ranked(line, 1))),
        found("mse", "codes that are not held between their ends", |problem| {
            vec![vec![candidate(largest(&values(problem)), 1)]]
        }),
        found("entropy", "a cut over 128", |problem| {
            vec![vec![entropy::found(problem, entropy::RIGHT)[0][0] * 127.0 / 128.0]]
        }),
        found("entropy", "what lies beyond a cut forgotten", |problem| {
            entropy::found(problem, entropy::How { beyond: false, ..entropy::RIGHT })
        }),
        found("entropy", "levels spread over empty bins too", |problem| {
            entropy::found(problem, entropy::How { only_filled: false, ..entropy::RIGHT })
        }),
        of("average", "the last row alone", |line, _| over(line, averaged(line, |_, row, _| row))),
        of("average", "the first row alone", |line, _| over(line, averaged(line, |m, _, _| m))),
        of("average", "the rows before count for so much", |line, _| {
            over(line, averaged(line, |m, row, share| row + (m - row) * share))
        }),
        of("average", "the largest of all", |line, _| over(line, averaged(line, |m, row, _| m.max(row)))),
    ],
    ..rowwise::UNARY
};

/// The scale that takes a magnitude to 127; 1 for zero.
fn over<'a>(line: &Line<'a>, most: Number<'a>) -> Vec<Number<'a>> {
    // One rounding more than of a quotient: kernels may multiply by a reciprocal.
    vec![if most.value == 0.0 { line.number(1.0) } else { most / 127.0 * 1.0 }]
}

/// What becomes of the largest magnitude of the first row, as those of the others come to it: of what is known, of a row's own and of
/// how much that counts.
fn averaged<'a>(line: &Line<'a>, next: fn(Number<'a>, Number<'a>, Number<'a>) -> Number<'a>) -> Number<'a> {
    let share = line.number(line.param("averaging"));
    let all: Vec<Number> = line.each(0).map(Number::abs).collect();
    let rows = all.chunks(line.case().axis("cols").max(1)).map(|row| line.max(row));
    rows.reduce(|known, row| next(known, row, share)).unwrap_or(line.number(0.0))
}

/// The magnitude of the rank that the percentile gives, so many ranks lower.
fn ranked<'a>(line: &Line<'a>, lower: usize) -> Number<'a> {
    let mut all: Vec<Number> = line.each(0).map(Number::abs).collect();
    all.sort_by(|one, other| one.value.total_cmp(&other.value));
    all[rank(all.len(), line.param("percentile")).saturating_sub(lower)]
}

/// How many are below the least of so many that so many in a hundred are not above.
///
/// ```
/// use roofline_core::ops::calibrate::rank;
///
/// assert_eq!([rank(200, 99.0), rank(200, 100.0), rank(3, 50.0), rank(3, 0.0)], [197, 199, 1, 0]);
/// ```
pub fn rank(count: usize, percentile: f64) -> usize {
    // What is a whole number of hundredths is one here too: products before quotients.
    let up_to = (percentile * count as f64 / 100.0).ceil() as usize;
    up_to.clamp(1, count.max(1)) - 1
}

/// Scales that are tried. Kernels may try more, and find a better one.
const TRIED: u32 = 20;
/// How much more than the least squares may be left: sums of f32 tell no better in long tensors.
const MORE: f64 = 1.001;

fn values(problem: &Problem) -> Vec<f64> {
    let x = problem.inputs[0];
    x.line(0, 1, x.elements())
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// One of the scales that are tried.
fn candidate(most: f64, number: u32) -> f64 {
    most / 127.0 * f64::from(number) / f64::from(TRIED)
}

/// The squares that codes of a scale leave.
fn left(x: &[f64], s: f64) -> f64 {
    x.iter().map(|x| (x - s * (x / s).round_ties_even().clamp(-127.0, 127.0)).powi(2)).sum()
}

/// The scale that leaves the least, and what it leaves; 1 of zeros.
fn best(x: &[f64]) -> (f64, f64) {
    let most = largest(x);
    if most == 0.0 {
        return (1.0, 0.0);
    }
    let tried = (1..=TRIED).map(|number| candidate(most, number)).map(|s| (s, left(x, s)));
    tried.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((1.0, 0.0))
}

fn check(problem: &Problem, outputs: &[View]) -> Result<(), String> {
    let (x, s) = (values(problem), outputs[0].get(0));
    let (scale, least) = best(&x);
    let most = largest(&x);
    if most == 0.0 {
        return if s == 1.0 { Ok(()) } else { Err(format!("s is {s} where all is zero, and 1 is due")) };
    }
    let is_tried = s.is_finite() && s > 0.0 && s <= most / 127.0 * (1.0 + 1e-6);
    if !is_tried {
        return Err(format!("s is {s}, which is none of the scales up to {}", most / 127.0));
    }
    let left = left(&x, s);
    // What even the best scale leaves of few numbers may be nothing but its own rounding.
    let rounding: f64 = x.iter().map(|x| (x * 1e-6).powi(2)).sum();
    if left <= MORE * least + rounding {
        return Ok(());
    }
    Err(format!("codes of s = {s} leave {left:.6e} in squares, those of {scale} {least:.6e}"))
}

/// A mistake of a form, which has another formula.
const fn of(form: &'static str, name: &'static str, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: is(form), wrong: Wrong::Formula(rowwise::rows(formula)) }
}

/// A mistake of a form that finds another scale.
const fn found(form: &'static str, name: &'static str, outputs: fn(&Problem) -> Vec<Vec<f64>>) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: is(form), wrong: Wrong::Outputs(outputs) }
}

/// Whether a case has a form, which its first letter tells.
const fn is(form: &'static str) -> fn(&Case) -> bool {
    match form.as_bytes() {
        [] => |case| case.variant.is_empty(),
        [b'p', ..] => |case| case.variant == "percentile",
        [b'm', ..] => |case| case.variant == "mse",
        [b'e', ..] => |case| case.variant == "entropy",
        _ => |case| case.variant == "average" && case.axis("rows") > 1,
    }
}
