//! `calibrate`: the scale that a tensor is quantised with, by its largest magnitude or by one that few are above.

use super::quantize::TYPES;
use crate::case::Case;
use crate::dtype::Dtype::F32;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::{Line, rowwise, work};
use crate::operation::{Judged, Mutant, Operation, Param, Variant, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "calibrate",
    about: "s = the scale that codes of a tensor have",
    variants: &[
        Variant { name: "", about: "max|x| / 127, and 1 where all is zero" },
        Variant {
            name: "percentile",
            about: "of |x| the least that so many in a hundred are not above, over 127",
        },
    ],
    params: &[Param::new("percentile", "of `percentile`: how many in a hundred", 99.0, (0.0, 100.0))],
    precisions: TYPES,
    fills: Fill::FINITE,
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).whole().rising(16.0),
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
    ]),
    mutants: &[
        of("the maximum, not the largest magnitude", "", |line, _| over(line, line.max_each(line.each(0)))),
        of("over 128", "", |line, _| vec![line.max_each(line.each(0).map(Number::abs)) / 128.0]),
        of("the percentile ignored", "percentile", |line, _| {
            over(line, line.max_each(line.each(0).map(Number::abs)))
        }),
        of("one rank too low", "percentile", |line, _| over(line, ranked(line, 1))),
    ],
    ..rowwise::UNARY
};

/// The scale that takes a magnitude to 127; 1 for zero.
fn over<'a>(line: &Line<'a>, most: Number<'a>) -> Vec<Number<'a>> {
    // One rounding more than of a quotient: kernels may multiply by a reciprocal.
    vec![if most.value == 0.0 { line.number(1.0) } else { most / 127.0 * 1.0 }]
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

const fn of(name: &'static str, form: &'static str, formula: rowwise::Formula) -> Mutant {
    let of: fn(&Case) -> bool = match form.len() {
        0 => |case| case.variant.is_empty(),
        _ => |case| case.variant == "percentile",
    };
    Mutant { name, fill: Fill::Normal, of, wrong: Wrong::Formula(rowwise::rows(formula)) }
}
