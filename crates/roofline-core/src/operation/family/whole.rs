//! Operations whose outputs come from the inputs as wholes: a loss over all rows.

use crate::arithmetic::Arithmetic;
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Number, Rows, Steps};
use crate::operation::{Expected, Judged, Mutant, Problem, Reach, Wrong};
use crate::tensor::Tensor;
use std::ops::Range;

pub use super::work;

/// The wanted elements of output number `output`.
pub type Formula = for<'a> fn(&All<'a>, output: usize, wanted: &[usize]) -> Vec<Number<'a>>;

/// How outputs are computed.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    pub formula: Formula,
    /// Outputs that depend on element `element` of input `tensor`, which may hang on the content.
    pub reach: fn(&Problem, tensor: usize, element: usize) -> Vec<Reach>,
}

/// A wrong kernel that has another formula, told by normal numbers; what inputs reach is asked of the right one alone.
pub const fn mutant(name: &'static str, formula: Formula) -> Mutant {
    let whole = Whole { formula, reach: |_, _, _| Vec::new() };
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(Judged::Whole(whole)) }
}

/// All inputs.
#[derive(Clone, Copy)]
pub struct All<'a> {
    problem: &'a Problem<'a>,
    steps: &'a Steps,
}

impl<'a> All<'a> {
    /// An element of an input.
    pub fn x(&self, tensor: usize, element: usize) -> Number<'a> {
        self.steps.input(self.raw(tensor, element))
    }

    /// The same as a plain number: an index, a seed.
    pub fn raw(&self, tensor: usize, element: usize) -> f64 {
        self.problem.inputs[tensor].get(element)
    }

    /// So many elements from the first on, as plain numbers: codes, whose sums are exact.
    pub fn line(&self, tensor: usize, first: usize, count: usize) -> Vec<f64> {
        self.problem.inputs[tensor].line(first, 1, count)
    }

    /// The elements of a row as long as the last axis of the case.
    pub fn row(&self, tensor: usize, row: usize) -> impl Iterator<Item = Number<'a>> + use<'a> {
        let length = self.problem.case.sizes.last().map_or(1, |size| *size as usize);
        let (input, steps) = (self.problem.inputs[tensor], self.steps);
        (row * length..(row + 1) * length).map(move |i| steps.input(input.get(i)))
    }

    /// Products of a line of one input, of so many elements from the first on, with lines of another that begin at
    /// `firsts` and whose elements are `step` apart.
    pub fn dots(
        &self,
        (tensor, line): (usize, Range<usize>),
        (other, firsts, step): (usize, impl Iterator<Item = usize>, usize),
    ) -> Vec<Number<'a>> {
        let [tensor, other] = [tensor, other].map(|tensor| self.problem.inputs[tensor]);
        let others: Vec<Vec<f64>> = firsts.map(|first| other.line(first, step, line.len())).collect();
        self.steps.dots(&tensor.line(line.start, 1, line.len()), &others)
    }

    /// Products of a line with others as long, of inputs that lie in no straight line.
    pub fn dots_of(&self, line: &[f64], others: &[Vec<f64>]) -> Vec<Number<'a>> {
        self.steps.dots(line, others)
    }

    /// Products of a line of numbers with rows of weights.
    pub fn weighted(&self, line: &[Number<'a>], rows: &Rows) -> Vec<Number<'a>> {
        self.steps.weighted(line, rows)
    }

    /// An input as so many rows of weights.
    pub fn rows(&self, tensor: usize, count: usize) -> Rows {
        let input = self.problem.inputs[tensor];
        Rows::new(count, &input.line(0, 1, input.elements()))
    }

    /// The wanted elements of a matrix of so many columns, each the product of what `left` gives for its row with what
    /// `right` gives for its column.
    pub fn products(
        &self,
        wanted: &[usize],
        columns: usize,
        left: impl Fn(usize) -> Vec<Number<'a>>,
        right: impl Fn(usize) -> Vec<Number<'a>>,
    ) -> Vec<Number<'a>> {
        let of_row = |wanted: &[usize]| {
            let left = left(wanted[0] / columns);
            let element = |element: &usize| self.dot(&left, &right(element % columns));
            wanted.iter().map(element).collect::<Vec<_>>()
        };
        wanted.chunk_by(|one, next| one / columns == next / columns).flat_map(of_row).collect()
    }

    pub fn dot(&self, left: &[Number<'a>], right: &[Number<'a>]) -> Number<'a> {
        self.steps.dot(left, right)
    }

    pub fn problem(&self) -> &'a Problem<'a> {
        self.problem
    }

    pub fn case(&self) -> &'a Case {
        self.problem.case
    }

    pub fn axis(&self, name: &str) -> usize {
        self.problem.case.axis(name)
    }

    pub fn variant(&self) -> &'static str {
        self.problem.case.variant
    }

    /// A constant of the formula.
    pub fn number(&self, value: f64) -> Number<'a> {
        self.steps.constant(value)
    }

    /// A number that kernels may have so far off.
    pub fn within(&self, value: f64, error: f64) -> Number<'a> {
        self.steps.within(value, error)
    }

    pub fn sum(&self, terms: impl Iterator<Item = Number<'a>>) -> Number<'a> {
        self.steps.sum(terms)
    }

    pub fn max(&self, terms: impl Iterator<Item = Number<'a>>) -> Number<'a> {
        self.steps.max(terms)
    }
}

fn outputs(problem: &Problem) -> Vec<Tensor> {
    let tensors = (problem.case.operation.tensors)(problem.case);
    tensors.into_iter().filter(|tensor| !tensor.role.is_input()).collect()
}

pub(crate) fn reference(whole: &Whole, problem: &Problem, output: usize, wanted: &[usize]) -> Vec<Expected> {
    let format = Dtype::format(outputs(problem)[output].dtype);
    let same = format == problem.case.precision.accumulator.format;
    let steps = Steps::of(problem.case, problem.fill);
    let numbers = (whole.formula)(&All { problem, steps: &steps }, output, wanted);
    numbers.into_iter().map(|number| Expected { value: number.value, soft: number.soft(same) }).collect()
}

pub(crate) fn emulate(whole: &Whole, problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
    let steps = Steps::emulating(problem.case, problem.fill, arithmetic);
    let emulated = outputs(problem).into_iter().enumerate().map(|(output, tensor)| {
        let all: Vec<usize> = (0..tensor.elements()).collect();
        let numbers = (whole.formula)(&All { problem, steps: &steps }, output, &all);
        numbers.into_iter().map(|number| number.emulated).collect()
    });
    emulated.collect()
}
