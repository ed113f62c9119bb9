//! `rms-norm`: y = x / sqrt(mean(x²) + eps) · w over each row.

use super::{Judged, Mutant, Operation, Param, Wrong};
use crate::family::{Line, Rowwise, rowwise};
use crate::fill::Fill;
use crate::number::Number;
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "rms-norm",
    about: "y = x / sqrt(mean(x²) + eps) · w over each row",
    params: &[Param { name: "eps", about: "added to the mean", default: 1e-6, range: (0.0, 1.0) }],
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        let limit = (case.precision.accumulator.max_finite() / cols.max(1) as f64).sqrt() / 4.0;
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).limit(limit),
            Tensor::input("w", case.dtype(), &[cols]).limit(limit),
            Tensor::output("y", case.precision.output, &[rows, cols]),
        ]
    },
    judged: rows(|line, _| scaled(line, scale(line, line.len() as f64, line.param("eps")))),
    mutants: &[
        mutant("epsilon forgotten", Fill::Planted, |line, _| {
            scaled(line, scale(line, line.len() as f64, 0.0))
        }),
        mutant("epsilon outside the root", Fill::Planted, |line, _| {
            let root = (line.squares(&line.all(0)) / line.len() as f64).sqrt();
            scaled(line, 1.0 / (root + line.param("eps")))
        }),
        mutant("epsilon before the mean", Fill::Planted, |line, _| {
            let length = line.len() as f64;
            scaled(line, scale(line, length, line.param("eps") / length))
        }),
        mutant("mean without the last vector", Fill::Uniform, |line, _| {
            let x = line.all(0);
            let squares = line.squares(&x[..x.len().saturating_sub(8).max(1)]);
            scaled(line, 1.0 / (squares / line.len() as f64 + line.param("eps")).sqrt())
        }),
        mutant("weight not applied", Fill::Uniform, |line, _| {
            let scale = scale(line, line.len() as f64, line.param("eps"));
            line.all(0).into_iter().map(|x| x * scale).collect()
        }),
        mutant("mean over a padded length", Fill::Uniform, |line, _| {
            scaled(line, scale(line, (line.len() + 8) as f64, line.param("eps")))
        }),
    ],
    ..rowwise::UNARY
};

const fn rows(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, pointwise: &[1], dimension: |_| 0 })
}

const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(rows(formula)) }
}

/// 1 / sqrt(sum of squares / length + eps).
fn scale<'a>(line: &Line<'a>, length: f64, eps: f64) -> Number<'a> {
    1.0 / (line.squares(&line.all(0)) / length + eps).sqrt()
}

fn scaled<'a>(line: &Line<'a>, scale: Number<'a>) -> Vec<Number<'a>> {
    line.all(0).into_iter().zip(line.all(1)).map(|(x, w)| x * scale * w).collect()
}
