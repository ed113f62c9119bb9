//! `rms-norm`: y = x / sqrt(mean(x²) + eps) · w over each row; `rms-norm.gemma`: with 1 + w in place of w.

use crate::case::Case;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, rowwise};
use crate::operation::{Judged, Mutant, Operation, Param, Variant, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "rms-norm",
    about: "y = x / sqrt(mean(x²) + eps) · w over each row",
    variants: &[
        Variant { name: "", about: "the plain form" },
        Variant { name: "gemma", about: "y = x / sqrt(mean(x²) + eps) · (1 + w)" },
    ],
    params: &[EPS],
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        let limit = rowwise::squarable(case, cols);
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).limit(limit),
            Tensor::input("w", case.dtype(), &[cols]).limit(limit),
            Tensor::output("y", case.precision.output, &[rows, cols]),
        ]
    },
    judged: rows(|line, _| scaled(line, scale(line, &line.all(0)))),
    mutants: &[
        mutant("epsilon forgotten", Fill::Planted, |line, _| {
            scaled(line, 1.0 / line.mean_square(&line.all(0)).sqrt())
        }),
        mutant("epsilon outside the root", Fill::Planted, |line, _| {
            scaled(line, 1.0 / (line.mean_square(&line.all(0)).sqrt() + line.param("eps")))
        }),
        mutant("epsilon before the mean", Fill::Planted, |line, _| {
            let length = line.len() as f64;
            scaled(line, 1.0 / ((line.squares(&line.all(0)) + line.param("eps")) / length).sqrt())
        }),
        mutant("mean without the last vector", Fill::Uniform, |line, _| {
            let x = line.all(0);
            let squares = line.squares(&x[..x.len().saturating_sub(8).max(1)]);
            scaled(line, 1.0 / (squares / line.len() as f64 + line.param("eps")).sqrt())
        }),
        mutant("weight not applied", Fill::Uniform, |line, _| {
            let x = line.all(0);
            let scale = scale(line, &x);
            x.into_iter().map(|x| x * scale).collect()
        }),
        mutant("mean over a padded length", Fill::Uniform, |line, _| {
            let mean = line.squares(&line.all(0)) / (line.len() + 8) as f64;
            scaled(line, 1.0 / (mean + line.param("eps")).sqrt())
        }),
        // The weight is no part of the mean.
        mutant("weight applied before the mean", Fill::Uniform, |line, _| {
            let weighted: Vec<Number> =
                line.all(0).into_iter().zip(weights(line)).map(|(x, w)| x * w).collect();
            let scale = scale(line, &weighted);
            weighted.into_iter().map(|x| x * scale).collect()
        }),
        mutant("weight of the other form", Fill::Uniform, |line, _| {
            let other = if line.variant() == "gemma" { 0.0 } else { 1.0 };
            let scale = scale(line, &line.all(0));
            line.all(0).into_iter().zip(line.all(1)).map(|(x, w)| x * scale * (other + w)).collect()
        }),
    ],
    ..rowwise::UNARY
};

pub(super) const EPS: Param = Param::new("eps", "added to the mean", 1e-6, (0.0, 1.0));

const fn rows(formula: rowwise::Formula) -> Judged {
    let along = |_: &Case, input, _| if input == 1 { Along::Own } else { Along::Whole };
    Judged::Rowwise(Rowwise { formula, along, dimension: |_| 0 })
}

const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(rows(formula)), of: |_| true }
}

/// 1 / sqrt(mean(x²) + eps).
pub(super) fn scale<'a>(line: &Line<'a>, x: &[Number<'a>]) -> Number<'a> {
    1.0 / (line.mean_square(x) + line.param("eps")).sqrt()
}

fn scaled<'a>(line: &Line<'a>, scale: Number<'a>) -> Vec<Number<'a>> {
    line.all(0).into_iter().zip(weights(line)).map(|(x, w)| x * scale * w).collect()
}

fn weights<'a>(line: &Line<'a>) -> Vec<Number<'a>> {
    let is_gemma = line.variant() == "gemma";
    line.all(1).into_iter().map(|w| if is_gemma { 1.0 + w } else { w }).collect()
}
