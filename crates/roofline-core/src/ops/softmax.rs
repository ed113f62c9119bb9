//! `softmax` over the last axis: y = exp(x - max) / sum exp(x - max).
//!
//! Rows that are all -inf give NaN. The argument's rounding and the exponential err in proportion
//! to |x - max|, the sum of positive terms by its length, and the rest is a handful of roundings.

use super::{Arithmetic, Axis, Expected, Mutant, Operation, Problem, RateUnit, Reach, Tensor, Variant, Work};
use crate::bound;
use crate::case::Case;
use crate::dtype::Dtype::{Bf16, F16, F32, F64};
use crate::fill::Fill;
use crate::mutants::nearly_right;
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
    mutants: &[
        Mutant { name: "one element by a thousandth", fill: Fill::Uniform, compute: nearly_right },
        Mutant {
            name: "maximum not subtracted",
            fill: Fill::Extreme,
            compute: |problem| over(problem, |_| 0.0),
        },
        Mutant { name: "maximum from zero", fill: Fill::Planted, compute: from_zero },
        Mutant { name: "maximum of magnitudes", fill: Fill::Planted, compute: of_magnitudes },
        Mutant { name: "maximum without the last vector", fill: Fill::Planted, compute: without_the_last },
        Mutant { name: "maximum of the first vector", fill: Fill::Planted, compute: of_the_first },
        Mutant { name: "zeros beyond the row counted", fill: Fill::Uniform, compute: padded },
        Mutant { name: "the last vector counted twice", fill: Fill::Uniform, compute: twice },
        Mutant { name: "NaN for negative infinity", fill: Fill::Nonfinite, compute: masked_to_nan },
    ],
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

/// The textbook formula around another number than the maximum, which overflows or vanishes in the accumulator.
fn over(problem: &Problem, pivot: fn(&[f64]) -> f64) -> Vec<f64> {
    with_sums(problem, pivot, |arithmetic, powers| arithmetic.sum(powers))
}

/// The formula around `pivot`, with `sum` for the sum of a row's exponentials.
fn with_sums(problem: &Problem, pivot: fn(&[f64]) -> f64, sum: fn(&Arithmetic, &[f64]) -> f64) -> Vec<f64> {
    let arithmetic = Arithmetic::declared(problem.case);
    let (x, cols) = (&problem.inputs[0], problem.case.axis("cols"));
    let rows = (0..x.elements()).step_by(cols).map(|first| x.line(first, 1, cols));
    rows.flat_map(|row| {
        let pivot = pivot(&row);
        let powers: Vec<f64> = row.iter().map(|x| arithmetic.round((x - pivot).exp())).collect();
        let sum = sum(&arithmetic, &powers);
        powers.into_iter().map(move |power| power / sum)
    })
    .collect()
}

fn from_zero(problem: &Problem) -> Vec<f64> {
    over(problem, |row| maximum(row).max(0.0))
}

fn of_magnitudes(problem: &Problem) -> Vec<f64> {
    over(problem, |row| row.iter().fold(0.0, |max, x| x.abs().max(max)))
}

fn without_the_last(problem: &Problem) -> Vec<f64> {
    over(problem, |row| maximum(&row[..row.len().saturating_sub(VECTOR).max(1)]))
}

fn of_the_first(problem: &Problem) -> Vec<f64> {
    over(problem, |row| maximum(&row[..row.len().min(VECTOR)]))
}

fn padded(problem: &Problem) -> Vec<f64> {
    // exp(0) of each element that is not there.
    with_sums(problem, |_| 0.0, |arithmetic, powers| arithmetic.sum(powers) + VECTOR as f64)
}

fn twice(problem: &Problem) -> Vec<f64> {
    with_sums(problem, maximum, |arithmetic, powers| {
        arithmetic.sum(powers) + arithmetic.sum(&powers[powers.len().saturating_sub(VECTOR)..])
    })
}

/// Infinity minus infinity, where a masked element should vanish.
fn masked_to_nan(problem: &Problem) -> Vec<f64> {
    let x = &problem.inputs[0];
    let whole = emulate(problem, &Arithmetic::declared(problem.case));
    let spoil = |(i, y)| if x.get(i) == f64::NEG_INFINITY { f64::NAN } else { y };
    whole.into_iter().enumerate().map(spoil).collect()
}

/// Elements that a mutant takes at a time.
const VECTOR: usize = 8;

/// The maximum with NaN carried along, unlike `f64::max`.
fn maximum(row: &[f64]) -> f64 {
    row.iter().fold(f64::NEG_INFINITY, |max, x| if max >= *x || max.is_nan() { max } else { *x })
}
