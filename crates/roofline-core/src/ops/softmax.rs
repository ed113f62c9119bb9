//! `softmax` over the last axis: y = exp(x - max) / sum exp(x - max).
//!
//! Rows that are all -inf give NaN.

use super::{Mutant, Operation, Wrong};
use crate::family::{Line, elementwise, rowwise};
use crate::fill::Fill;
use crate::number::Number;

pub const OPERATION: Operation = Operation {
    name: "softmax",
    about: "y = exp(x - max(x)) / sum(exp(x - max(x))) over each row",
    // Large enough that exp without the maximum taken off overflows every accumulator.
    tensors: |case| elementwise::unary(case, 1000.0),
    judged: rowwise::rows(|line, _| around(line, line.max(&line.all(0)), |_, sum| sum)),
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
        // Infinity minus infinity, where a masked element should vanish.
        mutant("NaN for negative infinity", Fill::Nonfinite, |line, _| {
            let mut y = around(line, line.max(&line.all(0)), |_, sum| sum);
            for (y, x) in y.iter_mut().zip(line.raw(0)) {
                *y = if x == f64::NEG_INFINITY { *y * f64::NAN } else { *y };
            }
            y
        }),
    ],
    ..rowwise::UNARY
};

/// Elements that a mutant takes at a time.
const VECTOR: usize = 8;

const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(rowwise::rows(formula)) }
}

/// The quotients of exponentials around `pivot`, over what is made of them and their sum.
fn around<'a>(
    line: &Line<'a>,
    pivot: Number<'a>,
    over: fn(&[Number<'a>], Number<'a>) -> Number<'a>,
) -> Vec<Number<'a>> {
    let powers: Vec<Number> = line.all(0).into_iter().map(|x| (x - pivot).exp()).collect();
    let scale = 1.0 / over(&powers, line.sum(&powers));
    powers.into_iter().map(|power| power * scale).collect()
}
