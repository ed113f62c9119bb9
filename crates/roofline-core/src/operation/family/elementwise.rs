//! Operations that compute each output element from the inputs at its place.

use super::{Space, work};
use crate::arithmetic::Arithmetic;
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Number, Steps};
use crate::operation::{
    Axis, Expected, Judged, Mutant, Operation, Param, Problem, RateUnit, Reach, Variant, Work, Wrong,
};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

/// A formula of one element.
pub type Formula = for<'a> fn(&Element<'a>) -> Number<'a>;

pub const PLAIN: &[Variant] = &[Variant { name: "", about: "the plain form" }];

pub const ROWS: &[Axis] =
    &[Axis::new("rows", "rows of each tensor"), Axis::new("cols", "columns of each tensor")];

/// The row of y from x, to which an operation adds name, formula and whatever differs.
pub const UNARY: Operation = Operation {
    name: "",
    also: &[],
    about: "",
    variants: PLAIN,
    axes: ROWS,
    params: &[],
    precisions: Precision::FLOATS,
    fills: Fill::ALL,
    rate: RateUnit::Bytes,
    legal: "",
    tensors: |case| {
        let shape = [case.axis("rows"), case.axis("cols")];
        vec![Tensor::input("x", case.dtype(), &shape), Tensor::output("y", case.precision.output, &shape)]
    },
    work: work_of,
    judged: Judged::Elementwise(|element| element.x(0)),
    mutants: &[],
};

/// x of at most this magnitude, and y.
pub fn unary(case: &Case, limit: f64) -> Vec<Tensor> {
    let shape = [case.axis("rows"), case.axis("cols")];
    vec![
        Tensor::input("x", case.dtype(), &shape).limit(limit),
        Tensor::output("y", case.precision.output, &shape),
    ]
}

/// x in this domain, and y.
pub fn within(case: &Case, low: f64, high: f64) -> Vec<Tensor> {
    let mut tensors = unary(case, f64::INFINITY);
    tensors[0].content = Content::Within { low, high };
    tensors
}

/// The number of an operation with a tensor and a number.
pub const SCALAR: Param = Param::new("scalar", "the number beside x", 2.5, (-1000.0, 1000.0));

/// The row of z from x and y.
pub const BINARY: Operation = Operation {
    tensors: |case| {
        let shape = [case.axis("rows"), case.axis("cols")];
        vec![
            Tensor::input("x", case.dtype(), &shape),
            Tensor::input("y", case.dtype(), &shape),
            Tensor::output("z", case.precision.output, &shape),
        ]
    },
    ..UNARY
};

/// A wrong kernel that computes another formula of each element.
pub const fn mutant(name: &'static str, fill: Fill, formula: Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(Judged::Elementwise(formula)) }
}

/// The inputs at one place.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    problem: Option<&'a Problem<'a>>,
    case: &'a Case,
    space: &'a Space,
    point: &'a [usize],
    index: usize,
    steps: &'a Steps,
}

impl<'a> Element<'a> {
    /// Input number `tensor` here.
    pub fn x(&self, tensor: usize) -> Number<'a> {
        self.steps.input(self.raw(tensor))
    }

    /// The same as a plain number: an index, a seed.
    pub fn raw(&self, tensor: usize) -> f64 {
        let Some(problem) = self.problem else { return 0.5 };
        let view = &problem.inputs[tensor];
        if self.space.is_whole(tensor) {
            view.get(self.index)
        } else {
            view.get(self.space.element(tensor, self.point))
        }
    }

    /// Element number `index` of an input, wherever it stands, as a plain number.
    pub fn at(&self, tensor: usize, index: usize) -> f64 {
        self.problem.map_or(0.0, |problem| problem.inputs[tensor].get(index))
    }

    /// A parameter of the case.
    pub fn param(&self, name: &str) -> f64 {
        self.case.param(name)
    }

    pub fn variant(&self) -> &'static str {
        self.case.variant
    }

    /// Its place in the output, counted from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether it is one of the last three of its row, which mutants treat apart.
    pub fn is_remainder(&self) -> bool {
        let cols = self.space.shape.last().copied().unwrap_or(1);
        self.index % cols + 3 >= cols
    }

    /// A constant of the formula.
    pub fn number(&self, value: f64) -> Number<'a> {
        self.steps.constant(value)
    }
}

pub(crate) fn reference(formula: Formula, problem: &Problem, wanted: &[usize]) -> Vec<Expected> {
    let output = (problem.case.operation.tensors)(problem.case).pop().map(|tensor| tensor.dtype);
    let same = output.and_then(Dtype::format) == problem.case.precision.accumulator.format;
    evaluate(formula, problem, &Steps::of(problem.case, problem.fill), wanted, |number| Expected {
        value: number.value,
        soft: number.soft(same),
    })
}

pub(crate) fn emulate(formula: Formula, problem: &Problem, arithmetic: &Arithmetic) -> Vec<f64> {
    let steps = Steps::emulating(problem.case, problem.fill, arithmetic);
    let all: Vec<usize> = (0..Space::of(&(problem.case.operation.tensors)(problem.case)).points()).collect();
    evaluate(formula, problem, &steps, &all, |number| number.emulated)
}

fn evaluate<T>(
    formula: Formula,
    problem: &Problem,
    steps: &Steps,
    wanted: &[usize],
    result: impl Fn(Number) -> T,
) -> Vec<T> {
    let tensors = (problem.case.operation.tensors)(problem.case);
    let space = Space::of(&tensors);
    let output = tensors.len() - 1;
    let results = wanted.iter().map(|index| {
        let point = space.point(output, *index);
        let (case, problem) = (problem.case, Some(problem));
        result(formula(&Element { problem, case, space: &space, point: &point, index: *index, steps }))
    });
    results.collect()
}

pub(crate) fn reach(case: &Case, tensor: usize, element: usize) -> Vec<Reach> {
    let tensors = (case.operation.tensors)(case);
    Space::of(&tensors).reach(tensor, element, tensors.len() - 1, None)
}

/// What the formula does, once for each element.
pub fn work_of(case: &Case) -> Work {
    let Judged::Elementwise(formula) = case.judged() else {
        unreachable!("the work of an elementwise operation is that of its formula")
    };
    work_by(case, *formula)
}

/// What this formula does, once for each element.
pub fn work_by(case: &Case, formula: Formula) -> Work {
    let space = Space::of(&(case.operation.tensors)(case));
    let steps = Steps::of(case, Fill::Uniform);
    let point = vec![0; space.shape.len()];
    formula(&Element { problem: None, case, space: &space, point: &point, index: 0, steps: &steps });
    work(case, steps.counts(), space.points() as u64)
}
