//! `sqnr`: how far codes are from the values that they stand for, as the ratio of signal to noise of each row in decibels.

use crate::case::Case;
use crate::dtype::Dtype::{Bf16, F32, I8};
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Line, rowwise};
use crate::operation::{Mutant, Operation, Wrong};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};
use std::f64::consts::LN_10;

pub const OPERATION: Operation = Operation {
    name: "sqnr",
    also: &["quantize-error"],
    about: "y = 10 · log10(sum(x²) / sum((x - s · q)²)) over each row, of codes q with a scale s for each row",
    // Squares of codes pass what f16 holds: sums in it would be infinite, and tell nothing of those in f32.
    precisions: &[Precision::of(F32), Precision::of(Bf16)],
    fills: Fill::FINITE,
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols])
                .limit(rowwise::squarable(case, cols))
                .step(visible(case, cols)),
            Tensor::input("q", I8, &[rows, cols]).holding(Content::Codes),
            Tensor::input("s", F32, &[rows]).beside(&[rows, 1]).holding(Content::Scales),
            Tensor::output("y", F32, &[rows]).beside(&[rows, 1]),
        ]
    },
    judged: rowwise::rows(|line, _| vec![ratio(line, left(line)) * (10.0 / LN_10)]),
    mutants: &[
        mutant("scale ignored", |line, _| {
            let left = line.all(0).into_iter().zip(line.all(1)).map(|(x, q)| x - q).collect();
            vec![ratio(line, left) * (10.0 / LN_10)]
        }),
        mutant("the natural logarithm", |line, _| vec![ratio(line, left(line)) * 10.0]),
        mutant("of amplitudes, not of powers", |line, _| vec![ratio(line, left(line)) * (20.0 / LN_10)]),
        mutant("noise over signal", |line, _| vec![ratio(line, left(line)) * (-10.0 / LN_10)]),
        mutant("signal of the codes", |line, _| {
            let s = line.one(2);
            let decoded: Vec<Number> = line.all(1).into_iter().map(|q| q * s).collect();
            vec![(line.squares(&decoded) / line.squares(&left(line))).ln() * (10.0 / LN_10)]
        }),
    ],
    ..rowwise::UNARY
};

/// A change that shows among codes of a hundred, whose squares are all that noise is.
fn visible(case: &Case, cols: usize) -> f64 {
    128.0 * rowwise::visible_square(case, cols)
}

/// What codes leave of values.
fn left<'a>(line: &Line<'a>) -> Vec<Number<'a>> {
    let s = line.one(2);
    line.all(0).into_iter().zip(line.all(1)).map(|(x, q)| x - q * s).collect()
}

/// The logarithm of the signal over what is left of it.
fn ratio<'a>(line: &Line<'a>, left: Vec<Number<'a>>) -> Number<'a> {
    (line.squares(&line.all(0)) / line.squares(&left)).ln()
}

const fn mutant(name: &'static str, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(rowwise::rows(formula)) }
}
