//! `layer-norm`: y = (x - mean) / sqrt(var + eps) · w + b over each row; `layer-norm.plain` without w and b.
//!
//! The variance is the mean of the squared deviations, over the row's length and not one less.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, rowwise};
use crate::operation::{Judged, Mutant, Operation, Param, Variant, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "layer-norm",
    about: "y = (x - mean(x)) / sqrt(var(x) + eps) · w + b over each row, var over the row's length",
    variants: &[
        Variant { name: "", about: "with a weight and a bias for each column" },
        Variant { name: "plain", about: "y = (x - mean(x)) / sqrt(var(x) + eps)" },
    ],
    params: &[EPS],
    tensors,
    judged: rows(|line, _| affine(line, normed(line))),
    mutants: &[
        mutant("epsilon forgotten", Fill::Planted, |line, _| {
            by(line, |line, squares| 1.0 / (squares / line.len() as f64).sqrt())
        }),
        mutant("epsilon outside the root", Fill::Planted, |line, _| {
            by(line, |line, squares| 1.0 / ((squares / line.len() as f64).sqrt() + line.param("eps")))
        }),
        mutant("variance over one less", Fill::Uniform, |line, _| {
            by(line, |line, squares| root(line, squares / (line.len() as f64 - 1.0)))
        }),
        // A row that is padded with zeros, each of which is as far off as the mean.
        mutant("masked lanes in the variance", Fill::Shifted, |line, _| {
            by(line, |line, squares| {
                let mean = line.mean(&line.all(0));
                root(line, (squares + mean * mean * 8.0) / line.len() as f64)
            })
        }),
        // Nothing that narrow types show: the sums have twice their digits.
        Mutant {
            of: |case| matches!(case.dtype(), Dtype::F32 | Dtype::F64),
            ..mutant("variance in one pass", Fill::Shifted, |line, _| {
                by(line, |line, _| {
                    let x = line.all(0);
                    let mean = line.mean(&x);
                    root(line, line.mean_square(&x) - mean * mean)
                })
            })
        },
        mutant("variance around zero", Fill::Shifted, |line, _| {
            by(line, |line, _| root(line, line.mean_square(&line.all(0))))
        }),
        mutant("mean not subtracted", Fill::Shifted, |line, _| {
            let (x, squares) = (line.all(0), line.squares(&deviations(line)));
            let scale = root(line, squares / line.len() as f64);
            affine(line, x.into_iter().map(|x| x * scale).collect())
        }),
        mutant("mean without the last vector", Fill::Planted, |line, _| {
            let x = line.all(0);
            let mean = line.sum(&x[..x.len().saturating_sub(8).max(1)]) / line.len() as f64;
            let x: Vec<Number> = x.into_iter().map(|x| x - mean).collect();
            let scale = root(line, line.mean_square(&x));
            affine(line, x.into_iter().map(|x| x * scale).collect())
        }),
        Mutant {
            of: |case| case.variant != "plain",
            ..mutant("bias not applied", Fill::Uniform, |line, _| {
                normed(line).into_iter().zip(line.all(1)).map(|(x, w)| x * w).collect()
            })
        },
        Mutant {
            of: |case| case.variant != "plain",
            ..mutant("bias before the weight", Fill::Uniform, |line, _| {
                let affine = normed(line).into_iter().zip(line.all(1)).zip(line.all(2));
                affine.map(|((x, w), b)| (x + b) * w).collect()
            })
        },
    ],
    ..rowwise::UNARY
};

pub(super) const EPS: Param = Param::new("eps", "added to the variance", 1e-5, (0.0, 1.0));

pub(super) fn tensors(case: &Case) -> Vec<Tensor> {
    let (rows, cols) = (case.axis("rows"), case.axis("cols"));
    // A mean in rows far from zero may be off by a sixteenth of what the row spreads, whatever the order.
    let digits = case.precision.accumulator.unit_roundoff();
    let limit = rowwise::squarable(case, cols).min(1.0 / (16.0 * digits * cols.max(1) as f64));
    let mut tensors = vec![Tensor::input("x", case.dtype(), &[rows, cols]).limit(limit)];
    if case.variant != "plain" {
        tensors.extend(["w", "b"].map(|name| Tensor::input(name, case.dtype(), &[cols]).limit(limit)));
    }
    tensors.push(Tensor::output("y", case.precision.output, &[rows, cols]));
    tensors
}

pub(super) const fn rows(formula: rowwise::Formula) -> Judged {
    let along = |_: &Case, input, _| if input == 0 { Along::Whole } else { Along::Own };
    Judged::Rowwise(Rowwise { formula, along, dimension: |_| 0 })
}

pub(super) const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(rows(formula)), of: |_| true }
}

/// (x - mean) / sqrt(var + eps).
pub(super) fn normed<'a>(line: &Line<'a>) -> Vec<Number<'a>> {
    let x = deviations(line);
    let scale = root(line, line.mean_square(&x));
    x.into_iter().map(|x| x * scale).collect()
}

/// Weight and bias, where there are any.
pub(super) fn affine<'a>(line: &Line<'a>, x: Vec<Number<'a>>) -> Vec<Number<'a>> {
    if line.variant() == "plain" {
        return x;
    }
    x.into_iter().zip(line.all(1)).zip(line.all(2)).map(|((x, w), b)| x * w + b).collect()
}

fn deviations<'a>(line: &Line<'a>) -> Vec<Number<'a>> {
    let x = line.all(0);
    let mean = line.mean(&x);
    x.into_iter().map(|x| x - mean).collect()
}

fn root<'a>(line: &Line<'a>, variance: Number<'a>) -> Number<'a> {
    1.0 / (variance + line.param("eps")).sqrt()
}

/// The deviations scaled by what a mutant makes of the sum of their squares.
fn by<'a>(line: &Line<'a>, scale: fn(&Line<'a>, Number<'a>) -> Number<'a>) -> Vec<Number<'a>> {
    let x = deviations(line);
    let scale = scale(line, line.squares(&x));
    affine(line, x.into_iter().map(|x| x * scale).collect())
}
