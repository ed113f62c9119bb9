//! Operations that move elements: every output element is a copy of one input element, and judged to be it.

use super::{elementwise, work};
use crate::arithmetic::Arithmetic;
use crate::case::Case;
use crate::number::Counts;
use crate::operation::{Expected, Judged, Operation, Problem, Reach};
use crate::tensor::Tensor;

/// How elements move.
#[derive(Clone, Copy, Debug)]
pub struct Movement {
    /// The input, and the element of it, that an element of an output is a copy of.
    pub from: fn(&Case, output: usize, index: usize) -> (usize, usize),
    /// The copies of an element of an input.
    pub to: fn(&Case, tensor: usize, element: usize) -> Vec<Reach>,
}

/// The row of y from x, to which an operation adds name, tensors and movement.
pub const UNARY: Operation = Operation {
    work: |case| work(case, Counts::default(), 0),
    judged: Judged::Movement(Movement {
        from: |_, _, index| (0, index),
        to: |_, _, element| one(0, element),
    }),
    ..elementwise::UNARY
};

/// The one copy that an element has.
pub fn one(output: usize, index: usize) -> Vec<Reach> {
    vec![Reach { output, first: index, step: 1, count: 1 }]
}

pub(crate) fn reference(
    movement: &Movement,
    problem: &Problem,
    output: usize,
    wanted: &[usize],
) -> Vec<Expected> {
    let value = |index: &usize| {
        let (tensor, element) = (movement.from)(problem.case, output, *index);
        Expected { value: problem.inputs[tensor].get(element), soft: 0.0 }
    };
    wanted.iter().map(value).collect()
}

/// A kernel that moves through another type leaves what that holds.
pub(crate) fn emulate(movement: &Movement, problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
    let tensors = (problem.case.operation.tensors)(problem.case);
    let outputs = tensors.iter().filter(|tensor| !tensor.role.is_input()).map(Tensor::elements);
    let emulated = outputs.enumerate().map(|(output, elements)| {
        let all: Vec<usize> = (0..elements).collect();
        let copies = reference(movement, problem, output, &all).into_iter();
        copies.map(|copy| arithmetic.round(arithmetic.input(copy.value))).collect()
    });
    emulated.collect()
}
