//! `softmax` over the last axis: y = exp(x - max) / sum exp(x - max); `softmax.columns` over the first.
//!
//! Rows that are all -inf give NaN, and zeros in `softmax.masked`.

use super::exp::same_factor;
use crate::case::Case;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, elementwise, rowwise};
use crate::operation::{Judged, Mutant, Operation, Variant, Wrong};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "softmax",
    about: "y = exp(x - max(x)) / sum(exp(x - max(x))) over each row",
    variants: &[
        Variant { name: "", about: "the plain form" },
        Variant { name: "columns", about: "over each column" },
        Variant { name: "masked", about: "rows that are all -inf give 0" },
    ],
    tensors,
    judged: lines(|line, _| around(line, line.max(&line.all(0)), |_, sum| sum)),
    mutants: &[
        mutant("maximum not subtracted", Fill::Extreme, |line, _| {
            around(line, line.number(0.0), |_, sum| sum)
        }),
        mutant("maximum from zero", Fill::Planted, |line, _| {
            around(line, line.max(&line.all(0)).max(line.number(0.0)), |_, sum| sum)
        }),
        mutant("maximum of magnitudes", Fill::Planted, |line, _| {
            let sizes: Vec<Number> = line.all(0).into_iter().map(Number::abs).collect();
            around(line, line.max(&sizes), |_, sum| sum)
        }),
        mutant("maximum without the last vector", Fill::Planted, |line, _| {
            let x = line.all(0);
            around(line, line.max(&x[..x.len().saturating_sub(VECTOR).max(1)]), |_, sum| sum)
        }),
        mutant("maximum of the first vector", Fill::Planted, |line, _| {
            let x = line.all(0);
            around(line, line.max(&x[..x.len().min(VECTOR)]), |_, sum| sum)
        }),
        // exp(0) of each element that is not there.
        mutant("zeros beyond the row counted", Fill::Uniform, |line, _| {
            around(line, line.number(0.0), |_, sum| sum + VECTOR as f64)
        }),
        mutant("the last vector counted twice", Fill::Uniform, |line, _| {
            around(line, line.max(&line.all(0)), |powers, sum| {
                powers[powers.len().saturating_sub(VECTOR)..].iter().fold(sum, |sum, power| sum + *power)
            })
        }),
        mutant("nothing below e to the -10", Fill::Planted, |line, _| {
            by(line, |_, _, x| if x.value < -10.0 { x.exp() * 0.0 } else { x.exp() })
        }),
        mutant("tail by another exponential", Fill::Normal, |line, _| {
            by(line, |line, place, x| {
                let is_body = place + VECTOR < line.raw(0).len();
                if is_body { x.exp() } else { same_factor(x) }
            })
        }),
        // Infinity minus infinity, where a masked element should vanish.
        mutant("NaN for negative infinity", Fill::Nonfinite, |line, _| {
            let mut y = around(line, line.max(&line.all(0)), |_, sum| sum);
            for (y, x) in y.iter_mut().zip(line.raw(0)) {
                *y = if x == f64::NEG_INFINITY { *y * f64::NAN } else { *y };
            }
            y
        }),
        Mutant {
            of: |case| case.variant == "masked",
            ..mutant("NaN for a masked row", Fill::Planted, |line, _| {
                quotients(line, line.max(&line.all(0)), |_, sum| sum)
            })
        },
    ],
    ..rowwise::UNARY
};

/// Large enough that exp without the maximum taken off overflows every accumulator.
pub(super) const LIMIT: f64 = 1000.0;

/// x, whose rows or columns hold what lines hold, and y.
pub(super) fn tensors(case: &Case) -> Vec<Tensor> {
    let mut tensors = elementwise::unary(case, LIMIT);
    tensors[0].runs = rowwise::columns(case);
    if case.variant == "masked" {
        tensors[0].content = Content::Masked { limit: LIMIT };
    }
    tensors
}

/// Lines along the rows or down the columns.
pub(super) const fn lines(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along: |_, _, _| Along::Whole, dimension: rowwise::columns })
}

/// Elements that a mutant takes at a time.
pub(super) const VECTOR: usize = 8;

pub(super) const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(lines(formula)), of: |_| true }
}

/// The quotients around `pivot`, and zeros for a row that is masked.
pub(super) fn around<'a>(
    line: &Line<'a>,
    pivot: Number<'a>,
    over: fn(&[Number<'a>], Number<'a>) -> Number<'a>,
) -> Vec<Number<'a>> {
    if is_masked(line) {
        return line.all(0).into_iter().map(|_| line.number(0.0)).collect();
    }
    quotients(line, pivot, over)
}

/// Whether a form that gives zeros for it has nothing to see in a row.
fn is_masked(line: &Line) -> bool {
    line.variant() == "masked" && line.raw(0).iter().all(|x| *x == f64::NEG_INFINITY)
}

/// The same with another exponential, which is told the place in the row.
fn by<'a>(line: &Line<'a>, exp: fn(&Line, usize, Number<'a>) -> Number<'a>) -> Vec<Number<'a>> {
    if is_masked(line) {
        return line.all(0).into_iter().map(|_| line.number(0.0)).collect();
    }
    let x = line.all(0);
    let pivot = line.max(&x);
    let powers = x.into_iter().enumerate().map(|(place, x)| exp(line, place, x - pivot));
    let powers: Vec<Number> = powers.collect();
    let scale = 1.0 / line.sum(&powers);
    powers.into_iter().map(|power| power * scale).collect()
}

/// The quotients of exponentials around `pivot`, over what is made of them and their sum.
fn quotients<'a>(
    line: &Line<'a>,
    pivot: Number<'a>,
    over: fn(&[Number<'a>], Number<'a>) -> Number<'a>,
) -> Vec<Number<'a>> {
    let powers: Vec<Number> = line.all(0).into_iter().map(|x| (x - pivot).exp()).collect();
    let scale = 1.0 / over(&powers, line.sum(&powers));
    powers.into_iter().map(|power| power * scale).collect()
}
