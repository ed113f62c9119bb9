//! `softmax` over the last axis: y = exp(x - max) / sum exp(x - max).
//!
//! Rows that are all -inf give NaN. The argument's rounding and the exponential err in proportion
//! to |x - max|, the sum of positive terms by its length, and the rest is a handful of roundings.

use super::{Arithmetic, Axis, Expected, Mutant, Operation, Problem, RateUnit, Reach, Tensor, Variant, Work};
use crate::bound;
use crate::case::Case;
use crate::dtype::Dtype::{Bf16, F16, F32, F64};
use crate::fill::Fill;
use crate::units::Bytes;

pub const OPERATION: Operation = Operation {
    name: "softmax",
    about: "y = exp(x - max(x)) / sum(exp(x - max(x))) over each row",
    variants: &[Variant { name: "", about: "over the last axis" }],
    axes: &[
        Axis { name: "rows", about: "independent rows" },
        Axis { name: "cols", about: "length of a row" },
    ],
    precisions: &[(F32, F32), (Bf16, F32), (F16, F32), (F64, F64)],
    fills: Fill::ALL,
    rate: RateUnit::Bytes,
    tensors,
    work,
    // Large enough that exp without the maximum taken off overflows every accumulator.
    limit: |_| 1000.0,
    reference,
    reach,
    emulate,
    mutants: &[Mutant { name: "maximum not subtracted", fill: Fill::Extreme, compute: unstable }],
    whole: None,
};

fn tensors(case: &Case) -> Vec<Tensor> {
    let shape = [case.axis("rows"), case.axis("cols")];
    vec![Tensor::input("x", case.dtype, &shape), Tensor::output("y", case.dtype, &shape)]
}

fn work(case: &Case) -> Work {
    let elements = (case.axis("rows") * case.axis("cols")) as u64;
    let bytes = Bytes(elements * case.dtype.size() as u64);
    // Maximum, difference, sum, scale; exponential.
    Work { simple: 4 * elements, special: elements, read: bytes, written: bytes, ..Work::default() }
}

fn reference(problem: &Problem, wanted: &[usize]) -> Vec<Expected> {
    let (cols, u) = (problem.case.axis("cols"), problem.case.accumulator.unit_roundoff());
    let lost = problem.case.accumulator.smallest_subnormal();
    let mut expected = Vec::with_capacity(wanted.len());
    for group in wanted.chunk_by(|a, b| a / cols == b / cols) {
        let row = problem.inputs[0].line(group[0] / cols * cols, 1, cols);
        let max = maximum(&row);
        let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
        let common =
            bound::positive_sum(problem.case.accumulator, cols, problem.fill.order_matters()) + 6.0 * u;
        expected.extend(group.iter().map(|index| {
            let below = row[index % cols] - max;
            let value = below.exp() / sum;
            let relative = if below.is_finite() { u * below.abs() + common } else { 0.0 };
            // An exponential that underflows in the accumulator loses up to its spacing.
            Expected { value, soft: value * relative + lost }
        }));
    }
    expected
}

fn reach(case: &Case, _tensor: usize, element: usize) -> Reach {
    let cols = case.axis("cols");
    Reach { first: element / cols * cols, step: 1, count: cols }
}

fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<f64> {
    let cols = problem.case.axis("cols");
    let input = &problem.inputs[0];
    let mut output = Vec::with_capacity(input.elements());
    for first in (0..input.elements()).step_by(cols) {
        let row: Vec<f64> = input.line(first, 1, cols).into_iter().map(|x| arithmetic.input(x)).collect();
        let max = maximum(&row);
        let powers: Vec<f64> =
            row.iter().map(|x| arithmetic.round(arithmetic.round(x - max).exp())).collect();
        let sum = arithmetic.sum(&powers);
        output.extend(powers.iter().map(|power| arithmetic.round(power / sum)));
    }
    output
}

/// The textbook formula without the maximum, which overflows in the accumulator.
fn unstable(problem: &Problem) -> Vec<f64> {
    let arithmetic = Arithmetic::declared(problem.case);
    let (x, cols) = (&problem.inputs[0], problem.case.axis("cols"));
    let powers: Vec<f64> = (0..x.elements()).map(|i| arithmetic.round(x.get(i).exp())).collect();
    let rows = powers.chunks(cols);
    rows.flat_map(|row| row.iter().map(|power| power / arithmetic.sum(row))).collect()
}

/// The maximum with NaN carried along, unlike `f64::max`.
fn maximum(row: &[f64]) -> f64 {
    row.iter().fold(f64::NEG_INFINITY, |max, x| if max >= *x || max.is_nan() { max } else { *x })
}
