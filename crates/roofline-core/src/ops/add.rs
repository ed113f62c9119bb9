//! `add`: z = x + y, element by element.
//!
//! One addition and three streams: nothing beyond the output rounding is allowed.

use super::{Arithmetic, Axis, Expected, Mutant, Operation, Problem, RateUnit, Reach, Tensor, Variant, Work};
use crate::case::Case;
use crate::dtype::Dtype::{Bf16, F16, F32, F64};
use crate::fill::Fill;
use crate::mutants::nearly_right;
use crate::units::Bytes;

pub const OPERATION: Operation = Operation {
    name: "add",
    about: "z = x + y",
    variants: &[Variant { name: "", about: "two tensors of one shape" }],
    axes: &[
        Axis { name: "rows", about: "rows of each tensor" },
        Axis { name: "cols", about: "columns of each tensor" },
    ],
    precisions: &[(F32, F32), (Bf16, F32), (F16, F32), (F64, F64)],
    fills: Fill::ALL,
    rate: RateUnit::Bytes,
    tensors,
    work,
    limit: |case| case.accumulator.max_finite() / 2.0,
    reference,
    reach: |_, _, element| Reach { first: element, step: 1, count: 1 },
    emulate,
    mutants: &[
        Mutant { name: "one element by a thousandth", fill: Fill::Uniform, compute: nearly_right },
        Mutant { name: "remainder copied", fill: Fill::Uniform, compute: |p| remainder(p, |x, _| x) },
        Mutant {
            name: "remainder added twice",
            fill: Fill::Uniform,
            compute: |p| remainder(p, |x, y| x + y + y),
        },
    ],
    whole: None,
};

fn tensors(case: &Case) -> Vec<Tensor> {
    let shape = [case.axis("rows"), case.axis("cols")];
    vec![
        Tensor::input("x", case.dtype, &shape),
        Tensor::input("y", case.dtype, &shape),
        Tensor::output("z", case.dtype, &shape),
    ]
}

fn work(case: &Case) -> Work {
    let elements = (case.axis("rows") * case.axis("cols")) as u64;
    let size = case.dtype.size() as u64;
    Work {
        simple: elements,
        read: Bytes(2 * elements * size),
        written: Bytes(elements * size),
        ..Work::default()
    }
}

fn reference(problem: &Problem, wanted: &[usize]) -> Vec<Expected> {
    let [x, y] = &problem.inputs[..] else { unreachable!("add has two inputs") };
    wanted.iter().map(|&i| Expected { value: x.get(i) + y.get(i), soft: 0.0 }).collect()
}

fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<f64> {
    let [x, y] = &problem.inputs[..] else { unreachable!("add has two inputs") };
    (0..x.elements())
        .map(|i| arithmetic.round(arithmetic.input(x.get(i)) + arithmetic.input(y.get(i))))
        .collect()
}

/// The last three elements of each row by another formula.
fn remainder(problem: &Problem, formula: fn(f64, f64) -> f64) -> Vec<f64> {
    let [x, y] = &problem.inputs[..] else { unreachable!("add has two inputs") };
    let cols = problem.case.axis("cols");
    let right = emulate(problem, &Arithmetic::declared(problem.case)).into_iter().enumerate();
    right.map(|(i, z)| if i % cols + 3 < cols { z } else { formula(x.get(i), y.get(i)) }).collect()
}
