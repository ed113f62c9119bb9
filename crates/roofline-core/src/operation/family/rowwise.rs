//! Operations that compute each output line, or one number for it, from the input lines at its place.

use super::{Space, elementwise, work};
use crate::arithmetic::Arithmetic;
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number, Steps};
use crate::operation::{Axis, Expected, Judged, Mutant, Operation, Problem, Reach, Variant, Work, Wrong};
use crate::tensor::Tensor;
use std::collections::BTreeMap;

/// A formula of one line: the elements of output number `output` along it, or the one that it has there.
pub type Formula = for<'a> fn(&Line<'a>, output: usize) -> Vec<Number<'a>>;

/// How lines are computed.
#[derive(Clone, Copy, Debug)]
pub struct Rowwise {
    pub formula: Formula,
    /// How far an element of input number `input` reaches along the line of output number `output`.
    pub along: fn(&Case, input: usize, output: usize) -> Along,
    /// The dimension that lines run along, counted from the last.
    pub dimension: fn(&Case) -> usize,
}

/// What an element of an input reaches of the line at its place.
#[derive(Clone, Copy, Debug)]
pub enum Along {
    /// All of it.
    Whole,
    /// What stands at its own place, as a weight does.
    Own,
    /// Its own place and that of its partner, which is told from the place and the length of the line.
    Pair(fn(usize, usize) -> usize),
    /// Nothing: the output has no use for it.
    Nothing,
    /// What the content of other inputs says, as that of a table does whose rows are picked by number.
    By(fn(&Problem, element: usize) -> Vec<Reach>),
}

/// Lines along the last dimension, whose inputs all reach all of it.
pub const fn rows(formula: Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along: |_, _, _| Along::Whole, dimension: |_| 0 })
}

pub const ROWS: &[Axis] = &[Axis::new("rows", "independent rows"), Axis::new("cols", "length of a row")];

/// The row of y from x over rows, to which an operation adds name, formula and whatever differs.
pub const UNARY: Operation =
    Operation { axes: ROWS, work: work_of, judged: rows(|line, _| line.all(0)), ..elementwise::UNARY };

/// The row of one number of each line: rows, columns, or everything.
pub const REDUCTION: Operation = Operation {
    variants: &[
        Variant { name: "", about: "over each row: y[rows]" },
        Variant { name: "columns", about: "over each column: y[cols]" },
        Variant { name: "all", about: "over all elements: y[1]" },
    ],
    tensors: |case| {
        reduced(case, |x, length| {
            // What no order of summation overflows with.
            let limit = case.precision.accumulator.max_finite() / length.max(1) as f64 / 4.0;
            x.limit(limit).step(visible(case, length))
        })
    },
    ..UNARY
};

/// 1 where a case works down its columns, which is a form of it, or along the middle one of three dimensions, and 0 where it
/// works along its rows.
pub fn columns(case: &Case) -> usize {
    usize::from(case.variant == "columns" || has_middle(case))
}

/// The axes of what works along the middle one of three dimensions, as which any axis of any tensor can be seen.
pub const MIDDLE: &[Axis] = &[
    Axis::new("outer", "product of the dimensions before"),
    Axis::new("length", "the dimension that it works along"),
    Axis::new("inner", "product of the dimensions after"),
];

fn has_middle(case: &Case) -> bool {
    case.operation.axes.iter().map(|axis| axis.name).eq(MIDDLE.iter().map(|axis| axis.name))
}

/// The largest magnitude of which so many squares are added up without an overflow.
pub fn squarable(case: &Case, terms: usize) -> f64 {
    (case.precision.accumulator.max_finite() / terms.max(1) as f64).sqrt() / 4.0
}

/// The one number of each line of a reduction.
pub const fn reduction(formula: Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along: |_, _, _| Along::Whole, dimension: columns })
}

/// A wrong reduction.
pub const fn mutant(name: &'static str, fill: Fill, formula: Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(reduction(formula)), of: |_| true }
}

/// x, of which more is said where the length of its lines is known, and y of a reduction.
pub fn reduced(case: &Case, with: impl Fn(Tensor, usize) -> Tensor) -> Vec<Tensor> {
    if has_middle(case) {
        let [outer, length, inner] = ["outer", "length", "inner"].map(|axis| case.axis(axis));
        let x = Tensor::input("x", case.dtype(), &[outer, length, inner]).running(1);
        let y = Tensor::output("y", case.precision.output, &[outer, inner]).beside(&[outer, 1, inner]);
        return vec![with(x, length), y];
    }
    let (rows, cols) = (case.axis("rows"), case.axis("cols"));
    let x = Tensor::input("x", case.dtype(), &[rows, cols]);
    let y = |elements| Tensor::output("y", case.precision.output, &[elements]);
    match case.variant {
        "columns" => vec![with(x.running(1), rows), y(cols).beside(&[1, cols])],
        "all" => vec![with(x.whole(), rows * cols), y(1)],
        _ => vec![with(x, cols), y(rows).beside(&[rows, 1])],
    }
}

/// A change that is seen in a sum of so many numbers of unit size, whatever the order.
pub fn visible(case: &Case, terms: usize) -> f64 {
    (16.0 * terms as f64 * case.precision.accumulator.unit_roundoff()).max(1.0)
}

/// The same for a sum of squares, which is all of one sign: what the sum's own roundings and that of its type hide.
pub fn visible_square(case: &Case, terms: usize) -> f64 {
    let (terms, output) = (terms as f64, case.precision.output.unit_roundoff());
    let walked = 32.0 * case.precision.accumulator.unit_roundoff() * terms * terms.sqrt();
    walked.max(8.0 * output * terms).sqrt().max(1.0)
}

/// The inputs of one line.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    problem: Option<&'a Problem<'a>>,
    case: &'a Case,
    space: &'a Space,
    /// Its point at the beginning, and the dimension that it runs along.
    start: &'a [usize],
    dimension: usize,
    length: usize,
    steps: &'a Steps,
}

impl<'a> Line<'a> {
    /// All elements of an input along the line.
    pub fn all(&self, tensor: usize) -> Vec<Number<'a>> {
        self.raw(tensor).into_iter().map(|value| self.steps.input(value)).collect()
    }

    /// The same one by one, for lines that may be all of a large tensor.
    pub fn each(&self, tensor: usize) -> impl Iterator<Item = Number<'a>> + use<'a> {
        let first = self.space.element(tensor, self.start);
        let (step, steps) = (self.space.stride(tensor, self.dimension), self.steps);
        let input = self.problem.map(|problem| problem.inputs[tensor]);
        (0..self.length).map(move |i| steps.input(input.map_or(0.5, |input| input.get(first + i * step))))
    }

    /// The same as plain numbers.
    pub fn raw(&self, tensor: usize) -> Vec<f64> {
        let Some(problem) = self.problem else { return vec![0.5; self.length] };
        let first = self.space.element(tensor, self.start);
        problem.inputs[tensor].line(first, self.space.stride(tensor, self.dimension), self.length)
    }

    /// The one element that an input has for the line.
    pub fn one(&self, tensor: usize) -> Number<'a> {
        self.steps.input(self.one_raw(tensor))
    }

    /// The same as a plain number: an index, a seed.
    pub fn one_raw(&self, tensor: usize) -> f64 {
        let Some(problem) = self.problem else { return 0.0 };
        problem.inputs[tensor].get(self.space.element(tensor, self.start))
    }

    /// Its point in the shape that the tensors span, at its beginning.
    pub fn start(&self) -> &'a [usize] {
        self.start
    }

    /// Row number `row` of an input that is a table of rows as long as half a line.
    pub fn half(&self, tensor: usize, row: usize) -> Vec<Number<'a>> {
        let length = self.length / 2;
        let row = self.problem.map_or_else(
            || vec![0.5; length],
            |problem| problem.inputs[tensor].line(row * length, 1, length),
        );
        row.into_iter().map(|value| self.steps.input(value)).collect()
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A parameter of the case.
    pub fn param(&self, name: &str) -> f64 {
        self.case.param(name)
    }

    /// The case that it is a line of.
    pub fn case(&self) -> &'a Case {
        self.case
    }

    pub fn variant(&self) -> &'static str {
        self.case.variant
    }

    /// A constant of the formula.
    pub fn number(&self, value: f64) -> Number<'a> {
        self.steps.constant(value)
    }

    /// A constant that kernels compute in f64 and may be so far off.
    pub fn within(&self, value: f64, error: f64) -> Number<'a> {
        self.steps.within(value, error)
    }

    /// What leads another way to a result that is counted already.
    pub fn uncounted<T>(&self, compute: impl FnOnce() -> T) -> T {
        self.steps.uncounted(compute)
    }

    pub fn sum(&self, terms: &[Number<'a>]) -> Number<'a> {
        self.steps.sum(terms)
    }

    /// The sum of terms that come one by one.
    pub fn sum_each(&self, terms: impl Iterator<Item = Number<'a>>) -> Number<'a> {
        self.steps.sum(terms)
    }

    pub fn max(&self, terms: &[Number<'a>]) -> Number<'a> {
        self.steps.max(terms)
    }

    /// The largest of terms that come one by one.
    pub fn max_each(&self, terms: impl Iterator<Item = Number<'a>>) -> Number<'a> {
        self.steps.max(terms)
    }

    /// The sum of the squares.
    pub fn squares(&self, terms: &[Number<'a>]) -> Number<'a> {
        self.steps.dot(terms, terms)
    }

    /// The mean of the squares.
    pub fn mean_square(&self, terms: &[Number<'a>]) -> Number<'a> {
        self.squares(terms) / terms.len() as f64
    }

    /// The sum of the products of two inputs along the line, fused.
    pub fn dot(&self, left: usize, right: usize) -> Number<'a> {
        self.steps.dot(self.each(left), self.each(right))
    }

    /// The mean of the terms.
    pub fn mean(&self, terms: &[Number<'a>]) -> Number<'a> {
        self.sum(terms) / terms.len() as f64
    }
}

/// What is the same for all lines of a case.
struct Lines<'a> {
    problem: &'a Problem<'a>,
    tensors: Vec<Tensor>,
    space: Space,
    dimension: usize,
}

impl<'a> Lines<'a> {
    fn of(rowwise: &Rowwise, problem: &'a Problem<'a>) -> Lines<'a> {
        let (tensors, space, dimension) = laid_out(rowwise, problem.case);
        Lines { problem, tensors, space, dimension }
    }

    /// Position of an output among the tensors.
    fn output(&self, number: usize) -> usize {
        self.tensors.iter().filter(|tensor| tensor.role.is_input()).count() + number
    }

    /// Evaluates the lines that the wanted elements of an output are on, each once.
    fn evaluate<T: Clone>(
        &self,
        formula: Formula,
        steps: &Steps,
        output: usize,
        wanted: &[usize],
        result: impl Fn(Number) -> T,
    ) -> Vec<T> {
        let tensor = self.output(output);
        let mut by_line: BTreeMap<Vec<usize>, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, index) in wanted.iter().enumerate() {
            let mut point = self.space.point(tensor, *index);
            let along = std::mem::take(&mut point[self.dimension]);
            by_line.entry(point).or_default().push((place, along));
        }
        let mut results: Vec<Option<T>> = vec![None; wanted.len()];
        for (start, places) in by_line {
            let line = Line {
                problem: Some(self.problem),
                case: self.problem.case,
                space: &self.space,
                start: &start,
                dimension: self.dimension,
                length: self.space.shape[self.dimension],
                steps,
            };
            let numbers = formula(&line, output);
            for (place, along) in places {
                results[place] = Some(result(numbers[along]));
            }
        }
        results.into_iter().flatten().collect()
    }
}

fn laid_out(rowwise: &Rowwise, case: &Case) -> (Vec<Tensor>, Space, usize) {
    let tensors = (case.operation.tensors)(case);
    let space = Space::of(&tensors);
    let dimension = space.shape.len() - 1 - (rowwise.dimension)(case);
    (tensors, space, dimension)
}

pub(crate) fn reference(
    rowwise: &Rowwise,
    problem: &Problem,
    output: usize,
    wanted: &[usize],
) -> Vec<Expected> {
    let lines = Lines::of(rowwise, problem);
    let format = lines.tensors[lines.output(output)].dtype;
    let same = Dtype::format(format) == problem.case.precision.accumulator.format;
    let steps = Steps::of(problem.case, problem.fill);
    lines.evaluate(rowwise.formula, &steps, output, wanted, |number| Expected {
        value: number.value,
        soft: number.soft(same),
    })
}

pub(crate) fn emulate(rowwise: &Rowwise, problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
    let lines = Lines::of(rowwise, problem);
    let steps = Steps::emulating(problem.case, problem.fill, arithmetic);
    let outputs = lines.tensors.iter().filter(|tensor| !tensor.role.is_input());
    let emulated = outputs.enumerate().map(|(output, tensor)| {
        let all: Vec<usize> = (0..tensor.elements()).collect();
        lines.evaluate(rowwise.formula, &steps, output, &all, |number| number.emulated)
    });
    emulated.collect()
}

/// What stands at the element's own place comes first: there a change shows most.
pub(crate) fn reach(rowwise: &Rowwise, problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let (tensors, space, dimension) = laid_out(rowwise, problem.case);
    let inputs = tensors.iter().filter(|tensor| tensor.role.is_input()).count();
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for output in 0..tensors.len() - inputs {
        let along = (rowwise.along)(problem.case, tensor, output);
        let at = |element, along| {
            let reached = space.reach(tensor, element, inputs + output, along);
            reached.into_iter().map(move |reach| Reach { output, ..reach })
        };
        if !matches!(along, Along::Nothing | Along::By(_)) {
            own.extend(at(element, None));
        }
        match along {
            Along::Whole => others.extend(at(element, Some(dimension))),
            Along::Pair(partner) => {
                let mut point = space.point(tensor, element);
                point[dimension] = partner(point[dimension], space.shape[dimension]);
                others.extend(at(space.element(tensor, &point), None));
            }
            Along::By(reach) => others.extend(reach(problem, element)),
            Along::Own | Along::Nothing => {}
        }
    }
    own.extend(others);
    own
}

/// What the formula does for a line of this length, told from lines of two and four elements.
fn counts(rowwise: &Rowwise, case: &Case, outputs: usize, length: u64) -> Counts {
    let (_, space, dimension) = laid_out(rowwise, case);
    let of = |length: usize| {
        let steps = Steps::of(case, Fill::Uniform);
        let start = vec![0; space.shape.len()];
        let line =
            Line { problem: None, case, space: &space, start: &start, dimension, length, steps: &steps };
        (0..outputs).for_each(|output| drop((rowwise.formula)(&line, output)));
        steps.counts()
    };
    let (two, four) = (of(2), of(4));
    let grown = |two: u64, four: u64| (two + length * (four - two) / 2).saturating_sub(four - two);
    Counts {
        multiply_adds: grown(two.multiply_adds, four.multiply_adds),
        simple: grown(two.simple, four.simple),
        special: grown(two.special, four.special),
    }
}

/// What the formula does, once for each line.
pub fn work_of(case: &Case) -> Work {
    let Judged::Rowwise(rowwise) = case.judged() else {
        unreachable!("the work of a rowwise operation is that of its formula")
    };
    work_with(case, rowwise)
}

/// The same for what is judged otherwise, and would be computed so.
pub fn work_with(case: &Case, rowwise: &Rowwise) -> Work {
    let (tensors, space, dimension) = laid_out(rowwise, case);
    let outputs = tensors.iter().filter(|tensor| !tensor.role.is_input()).count();
    let length = space.shape[dimension].max(1);
    work(case, counts(rowwise, case, outputs, length as u64), (space.points() / length) as u64)
}
