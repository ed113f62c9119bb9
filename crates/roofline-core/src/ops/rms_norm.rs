//! `rms-norm` over the last axis: y = x / sqrt(mean(x^2) + 1e-6) * w.
//!
//! The sum of squares has one sign, so its relative error grows with the root of its length and is
//! halved by the square root; reciprocal root and two products add a few roundings.

use super::{Arithmetic, Axis, Expected, Mutant, Operation, Problem, RateUnit, Reach, Tensor, Variant, Work};
use crate::bound;
use crate::case::Case;
use crate::dtype::Dtype::{Bf16, F16, F32, F64};
use crate::fill::Fill;
use crate::mutants::nearly_right;
use crate::units::Bytes;

pub const EPSILON: f64 = 1e-6;

pub const OPERATION: Operation = Operation {
    name: "rms-norm",
    about: "y = x / sqrt(mean(x²) + 1e-6) · w over each row",
    variants: &[Variant { name: "", about: "over the last axis, weight of one row" }],
    axes: &[
        Axis { name: "rows", about: "independent rows" },
        Axis { name: "cols", about: "length of a row" },
    ],
    precisions: &[(F32, F32), (Bf16, F32), (F16, F32), (F64, F64)],
    fills: Fill::ALL,
    rate: RateUnit::Bytes,
    tensors,
    work,
    // The sum of the squares, and each output, stay below the accumulator's largest value.
    limit: |case| (case.accumulator.max_finite() / case.axis("cols") as f64).sqrt() / 4.0,
    reference,
    reach,
    emulate,
    mutants: &[
        Mutant { name: "one element by a thousandth", fill: Fill::Uniform, compute: nearly_right },
        Mutant { name: "weight not applied", fill: Fill::Uniform, compute: unweighted },
        Mutant { name: "epsilon forgotten", fill: Fill::Planted, compute: |p| by(p, |row| mean(row).sqrt()) },
        Mutant {
            name: "epsilon outside the root",
            fill: Fill::Planted,
            compute: |p| by(p, |row| mean(row).sqrt() + EPSILON),
        },
        Mutant {
            name: "epsilon before the mean",
            fill: Fill::Planted,
            compute: |p| by(p, |row| (mean(row) + EPSILON / row.len() as f64).sqrt()),
        },
        Mutant {
            name: "mean over a padded length",
            fill: Fill::Uniform,
            compute: |p| {
                by(p, |row| (mean(row) * row.len() as f64 / (row.len() + 8) as f64 + EPSILON).sqrt())
            },
        },
        Mutant {
            name: "mean without the last vector",
            fill: Fill::Uniform,
            compute: |p| {
                by(p, |row| {
                    let whole = &row[..row.len().saturating_sub(8).max(1)];
                    (mean(whole) * whole.len() as f64 / row.len() as f64 + EPSILON).sqrt()
                })
            },
        },
    ],
    whole: None,
};

fn tensors(case: &Case) -> Vec<Tensor> {
    let (rows, cols) = (case.axis("rows"), case.axis("cols"));
    vec![
        Tensor::input("x", case.dtype, &[rows, cols]),
        Tensor::input("w", case.dtype, &[cols]),
        Tensor::output("y", case.dtype, &[rows, cols]),
    ]
}

fn work(case: &Case) -> Work {
    let (rows, cols) = (case.axis("rows") as u64, case.axis("cols") as u64);
    let size = case.dtype.size() as u64;
    Work {
        multiply_adds: rows * cols,
        simple: 2 * rows * cols,
        special: 2 * rows,
        read: Bytes((rows + 1) * cols * size),
        written: Bytes(rows * cols * size),
    }
}

fn reference(problem: &Problem, wanted: &[usize]) -> Vec<Expected> {
    let (x, w) = (&problem.inputs[0], &problem.inputs[1]);
    let cols = problem.case.axis("cols");
    let u = problem.case.accumulator.unit_roundoff();
    let relative =
        bound::positive_sum(problem.case.accumulator, cols, problem.fill.order_matters()) / 2.0 + 5.0 * u;
    let mut expected = Vec::with_capacity(wanted.len());
    for group in wanted.chunk_by(|a, b| a / cols == b / cols) {
        let row = x.line(group[0] / cols * cols, 1, cols);
        let scale = (mean(&row) + EPSILON).sqrt();
        expected.extend(group.iter().map(|index| {
            let value = row[index % cols] / scale * w.get(index % cols);
            Expected { value, soft: value.abs() * relative + problem.case.accumulator.smallest_subnormal() }
        }));
    }
    expected
}

fn reach(case: &Case, tensor: usize, element: usize) -> Reach {
    let (rows, cols) = (case.axis("rows"), case.axis("cols"));
    match tensor {
        0 => Reach { first: element / cols * cols, step: 1, count: cols },
        _ => Reach { first: element, step: cols, count: rows },
    }
}

fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<f64> {
    let cols = problem.case.axis("cols");
    let (x, w) = (&problem.inputs[0], &problem.inputs[1]);
    let mut output = Vec::with_capacity(x.elements());
    for first in (0..x.elements()).step_by(cols) {
        let row: Vec<f64> = x.line(first, 1, cols).into_iter().map(|x| arithmetic.input(x)).collect();
        let squares: Vec<f64> = row.iter().map(|x| arithmetic.round(x * x)).collect();
        let mean = arithmetic.round(arithmetic.sum(&squares) / cols as f64);
        let scale = arithmetic.round(1.0 / arithmetic.round(mean + EPSILON).sqrt());
        output.extend(
            row.iter()
                .enumerate()
                .map(|(i, x)| arithmetic.round(arithmetic.round(x * scale) * arithmetic.input(w.get(i)))),
        );
    }
    output
}

/// The normalisation alone.
fn unweighted(problem: &Problem) -> Vec<f64> {
    let (cols, weight) = (problem.case.axis("cols"), &problem.inputs[1]);
    let whole = emulate(problem, &Arithmetic::declared(problem.case));
    whole.iter().enumerate().map(|(i, y)| y / weight.get(i % cols)).collect()
}

/// Every row over another scale than the right one.
fn by(problem: &Problem, scale: fn(&[f64]) -> f64) -> Vec<f64> {
    let (x, w, cols) = (&problem.inputs[0], &problem.inputs[1], problem.case.axis("cols"));
    let rows = (0..x.elements()).step_by(cols).map(|first| x.line(first, 1, cols));
    rows.flat_map(|row| {
        let scale = scale(&row);
        row.into_iter().enumerate().map(move |(i, x)| x / scale * w.get(i))
    })
    .collect()
}

/// The mean of the squares.
fn mean(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64
}
