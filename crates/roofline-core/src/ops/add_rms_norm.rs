//! `add-rms-norm`: h = x + r and y = rms-norm(h) · w, in one pass.
//!
//! Of h as it is or as it is written: both are honest, and the bound has room for either.

use super::rms_norm::{EPS, scale};
use crate::case::Case;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, rowwise};
use crate::operation::{Judged, Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "add-rms-norm",
    about: "h = x + r, y = h / sqrt(mean(h²) + eps) · w over each row",
    params: &[EPS],
    tensors: |case| {
        let (dtype, output) = (case.dtype(), case.precision.output);
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        let limit = rowwise::squarable(case, cols) / 2.0;
        vec![
            Tensor::input("x", dtype, &[rows, cols]).limit(limit),
            Tensor::input("r", dtype, &[rows, cols]).limit(limit).alike(),
            Tensor::input("w", dtype, &[cols]).limit(limit),
            Tensor::output("h", output, &[rows, cols]),
            Tensor::output("y", output, &[rows, cols]),
        ]
    },
    judged: rows(|line, output| {
        let h = sums(line);
        if output == 0 {
            return h;
        }
        let written = h.iter().map(|h| h.written(line.case().precision.output)).collect();
        let others = line.uncounted(|| normed(line, written));
        normed(line, h).into_iter().zip(others).map(|(y, other)| y.either(other)).collect()
    }),
    mutants: &[
        mutant("residual not added", Fill::Uniform, |line, output| {
            if output == 0 { line.all(0) } else { normed(line, line.all(0)) }
        }),
        mutant("norm of the input alone", Fill::Uniform, |line, output| {
            if output == 0 { sums(line) } else { normed(line, line.all(0)) }
        }),
        mutant("sum not written", Fill::Uniform, |line, output| {
            if output == 0 { line.all(1) } else { normed(line, sums(line)) }
        }),
        mutant("outputs exchanged", Fill::Uniform, |line, output| {
            if output == 1 { sums(line) } else { normed(line, sums(line)) }
        }),
        mutant("epsilon forgotten", Fill::Planted, |line, output| {
            let h = sums(line);
            let scale = 1.0 / line.mean_square(&h).sqrt();
            if output == 0 { h } else { scaled(line, h, scale) }
        }),
    ],
    ..rowwise::UNARY
};

const fn rows(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along, dimension: |_| 0 })
}

const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(rows(formula)), of: |_| true }
}

fn along(_: &Case, input: usize, output: usize) -> Along {
    match (input, output) {
        (2, 0) => Along::Nothing,
        (2, _) | (_, 0) => Along::Own,
        _ => Along::Whole,
    }
}

pub(super) fn sums<'a>(line: &Line<'a>) -> Vec<Number<'a>> {
    line.all(0).into_iter().zip(line.all(1)).map(|(x, r)| x + r).collect()
}

pub(super) fn normed<'a>(line: &Line<'a>, h: Vec<Number<'a>>) -> Vec<Number<'a>> {
    let scale = scale(line, &h);
    scaled(line, h, scale)
}

fn scaled<'a>(line: &Line<'a>, h: Vec<Number<'a>>, scale: Number<'a>) -> Vec<Number<'a>> {
    h.into_iter().zip(line.all(2)).map(|(h, w)| h * scale * w).collect()
}
