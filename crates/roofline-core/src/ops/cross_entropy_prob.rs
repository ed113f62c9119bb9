//! `cross-entropy-prob`: y = -sum(t · ln(max(p, 10⁻⁸))) over all elements, from probabilities.
//!
//! Targets are of either sign, though only those above zero mean something: a sum of one sign walks so far that
//! the change of one element would be lost in it.

use crate::fill::Fill;
use crate::operation::Operation;
use crate::operation::family::rowwise::{self, mutant};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "cross-entropy-prob",
    about: "y = -sum(t · ln(max(p, 1e-8)))",
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        let input = |name| Tensor::input(name, case.dtype(), &[rows, cols]).whole();
        let limit = case.precision.accumulator.max_finite() / (rows * cols).max(1) as f64 / 100.0;
        vec![
            input("p").holding(Content::Within { low: 0.0, high: 1.0 }),
            input("t").limit(limit).step(rowwise::visible(case, (2 * rows).saturating_mul(cols))),
            Tensor::output("y", case.precision.output, &[1]),
        ]
    },
    judged: rowwise::reduction(|line, _| {
        let logs = line.each(0).map(|p| p.max(line.number(LEAST)).ln());
        vec![-line.sum_each(logs.zip(line.each(1)).map(|(log, t)| log * t))]
    }),
    mutants: &[
        mutant("logarithm of zero", Fill::Extreme, |line, _| {
            vec![-line.sum_each(line.each(0).zip(line.each(1)).map(|(p, t)| p.ln() * t))]
        }),
        mutant("logarithm to base 2", Fill::Uniform, |line, _| {
            let logs = line.each(0).map(|p| p.max(line.number(LEAST)).ln() / std::f64::consts::LN_2);
            vec![-line.sum_each(logs.zip(line.each(1)).map(|(log, t)| log * t))]
        }),
    ],
    ..rowwise::UNARY
};

/// What smaller probabilities are taken for.
const LEAST: f64 = 1e-8;
