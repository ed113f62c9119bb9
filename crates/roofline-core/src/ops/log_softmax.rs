//! `log-softmax` over the last axis: y = x - max - ln sum exp(x - max); `log-softmax.columns` over the first.

use super::softmax::{VECTOR, lines, mutant, tensors};
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Line, rowwise};
use crate::operation::{Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "log-softmax",
    about: "y = x - max(x) - ln(sum(exp(x - max(x)))) over each row",
    variants: &[
        Variant { name: "", about: "the plain form" },
        Variant { name: "columns", about: "over each column" },
    ],
    tensors,
    judged: lines(|line, _| around(line, line.max(&line.all(0)), |powers| powers)),
    mutants: &[
        mutant("maximum not subtracted", Fill::Extreme, |line, _| {
            around(line, line.number(0.0), |powers| powers)
        }),
        mutant("maximum from zero", Fill::Planted, |line, _| {
            around(line, line.max(&line.all(0)).max(line.number(0.0)), |powers| powers)
        }),
        mutant("maximum without the last vector", Fill::Planted, |line, _| {
            let x = line.all(0);
            around(line, line.max(&x[..x.len().saturating_sub(VECTOR).max(1)]), |powers| powers)
        }),
        mutant("sum without the last vector", Fill::Uniform, |line, _| {
            around(line, line.max(&line.all(0)), |powers| {
                &powers[..powers.len().saturating_sub(VECTOR).max(1)]
            })
        }),
        mutant("maximum not added to the logarithm", Fill::Uniform, |line, _| {
            let most = line.max(&line.all(0));
            around(line, most, |powers| powers).into_iter().map(|y| y + most).collect()
        }),
        mutant("logarithm to the base of two", Fill::Uniform, |line, _| {
            let (x, most) = (line.all(0), line.max(&line.all(0)));
            let powers: Vec<Number> = x.iter().map(|x| (*x - most).exp()).collect();
            let logarithm = line.sum(&powers).ln() / std::f64::consts::LN_2;
            x.into_iter().map(|x| x - most - logarithm).collect()
        }),
        // The logarithm of what has become zero.
        mutant("logarithm of the quotient", Fill::Planted, |line, _| {
            let (x, most) = (line.all(0), line.max(&line.all(0)));
            let powers: Vec<Number> = x.iter().map(|x| (*x - most).exp()).collect();
            let sum = line.sum(&powers);
            powers.into_iter().map(|power| (power / sum).ln()).collect()
        }),
    ],
    ..rowwise::UNARY
};

/// What is left of each element when `pivot` and the logarithm of the counted exponentials around it are taken off.
fn around<'a>(
    line: &Line<'a>,
    pivot: Number<'a>,
    counted: for<'b> fn(&'b [Number<'a>]) -> &'b [Number<'a>],
) -> Vec<Number<'a>> {
    let shifted: Vec<Number> = line.all(0).into_iter().map(|x| x - pivot).collect();
    let powers: Vec<Number> = shifted.iter().map(|x| x.exp()).collect();
    let logarithm = line.sum(counted(&powers)).ln();
    shifted.into_iter().map(|x| x - logarithm).collect()
}
