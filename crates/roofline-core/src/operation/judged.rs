//! How outputs are judged: element by element against expected values, or by a property.

use crate::arithmetic::Arithmetic;
use crate::bound::Walk;
use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::operation::family::{Movement, Rowwise, Whole, elementwise, movement, rowwise, whole};
use crate::operation::own::Own;
use crate::tensor::View;

/// How the outputs of an operation are judged.
#[derive(Clone, Copy, Debug)]
pub enum Judged {
    /// Each element of the one output by a formula over the inputs at its place.
    Elementwise(elementwise::Formula),
    /// Each line of the outputs by a formula over the input lines at its place.
    Rowwise(Rowwise),
    /// The outputs by a formula over whole inputs.
    Whole(Whole),
    /// Each element as a copy of one of an input.
    Movement(Movement),
    /// Each element by functions of the operation's own.
    Elements(Elements),
    /// Each output as a whole, where elements have no one right value.
    Property(Property),
    /// Each form in a way of its own, by the name of its variant; [`Case::judged`] knows which.
    Forms(&'static [(&'static str, Judged)]),
    /// Each element by what the process of a runner that declares the operation gives for it.
    Own(&'static Own),
}

/// Functions that know what each element must be.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// Expected values of the chosen elements of an output, in ascending order of index.
    pub reference: fn(&Problem, output: usize, &[usize]) -> Vec<Expected>,
    /// Outputs that depend on element `element` of input `tensor`.
    pub reach: fn(&Problem, tensor: usize, element: usize) -> Vec<Reach>,
    /// The whole outputs in emulated arithmetic: for calibration and mutants, never for judging.
    pub emulate: fn(&Problem, &Arithmetic) -> Vec<Vec<f64>>,
    /// A look at the whole output that costs less than its reference; for operations that have one.
    pub whole: Option<WholeCheck>,
}

/// What must hold of outputs as wholes.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// Says what does not hold.
    pub check: fn(&Problem, outputs: &[View]) -> Result<(), String>,
    /// Outputs for which it holds: for the self-test.
    pub example: fn(&Problem) -> Vec<Vec<f64>>,
}

/// A look at the whole output, read a row at a time: returns the rows by how suspicious they are, the
/// worst first. It accuses nobody: what it names is then judged.
pub type WholeCheck = fn(&Problem, output: Dtype, row: &dyn Fn(usize) -> Vec<f64>, draws: u64) -> Vec<usize>;

/// A wrong kernel, told by one of the operation's families.
#[derive(Debug)]
pub struct Mutant {
    pub name: &'static str,
    pub fill: Fill,
    pub wrong: Wrong,
    /// Cases that can have it: not every form has a bias to forget.
    pub of: fn(&Case) -> bool,
}

/// What a wrong kernel computes.
#[derive(Debug)]
pub enum Wrong {
    /// Another formula of the family.
    Formula(Judged),
    /// Outputs.
    Outputs(fn(&Problem) -> Vec<Vec<f64>>),
}

/// A case with content.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    pub case: &'a Case,
    pub fill: Fill,
    pub inputs: Vec<View<'a>>,
}

impl Problem<'_> {
    /// How a kernel sums here, for the bound of a sum.
    pub fn walk(&self) -> Walk {
        Walk { accumulator: self.case.precision.accumulator, order_matters: self.fill.order_matters() }
    }
}

/// What an output element must be: the f64 value, and the model of the internal error.
///
/// The rounding to the output type is not part of `soft`; the judge adds it without margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    pub value: f64,
    pub soft: f64,
}

/// An arithmetic progression of elements of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    pub output: usize,
    pub first: usize,
    pub step: usize,
    pub count: usize,
}

impl Reach {
    pub fn nth(&self, i: usize) -> usize {
        self.first + i * self.step
    }

    pub fn contains(&self, index: usize) -> bool {
        let Some(beyond) = index.checked_sub(self.first) else { return false };
        let step = self.step.max(1);
        beyond.is_multiple_of(step) && beyond / step < self.count
    }
}

impl Judged {
    /// Expected values of the chosen elements of an output, in ascending order of index; none where only a
    /// property holds.
    pub fn reference(&self, problem: &Problem, output: usize, wanted: &[usize]) -> Vec<Expected> {
        match self {
            Judged::Elementwise(formula) => elementwise::reference(*formula, problem, wanted),
            Judged::Rowwise(rowwise) => rowwise::reference(rowwise, problem, output, wanted),
            Judged::Whole(whole) => whole::reference(whole, problem, output, wanted),
            Judged::Movement(movement) => movement::reference(movement, problem, output, wanted),
            Judged::Elements(elements) => (elements.reference)(problem, output, wanted),
            Judged::Property(_) => Vec::new(),
            Judged::Forms(_) => problem.case.judged().reference(problem, output, wanted),
            Judged::Own(own) => own.expected(problem, output, wanted),
        }
    }

    /// Outputs that depend on an element of an input.
    pub fn reach(&self, problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
        match self {
            Judged::Elementwise(_) => elementwise::reach(problem.case, tensor, element),
            Judged::Rowwise(rowwise) => rowwise::reach(rowwise, problem, tensor, element),
            Judged::Whole(whole) => (whole.reach)(problem, tensor, element),
            Judged::Movement(movement) => (movement.to)(problem.case, tensor, element),
            Judged::Elements(elements) => (elements.reach)(problem, tensor, element),
            Judged::Property(_) => Vec::new(),
            Judged::Forms(_) => problem.case.judged().reach(problem, tensor, element),
            Judged::Own(own) => own.reach(problem.case, tensor, element),
        }
    }

    /// The whole outputs as a kernel of this arithmetic leaves them.
    pub fn emulate(&self, problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
        match self {
            Judged::Elementwise(formula) => vec![elementwise::emulate(*formula, problem, arithmetic)],
            Judged::Rowwise(rowwise) => rowwise::emulate(rowwise, problem, arithmetic),
            Judged::Whole(whole) => whole::emulate(whole, problem, arithmetic),
            Judged::Movement(movement) => movement::emulate(movement, problem, arithmetic),
            Judged::Elements(elements) => (elements.emulate)(problem, arithmetic),
            Judged::Property(property) => (property.example)(problem),
            Judged::Forms(_) => problem.case.judged().emulate(problem, arithmetic),
            Judged::Own(own) => own.emulate(problem, arithmetic),
        }
    }

    /// A cheap look at the whole output, where there is one.
    pub fn whole(&self) -> Option<WholeCheck> {
        match self {
            Judged::Elements(elements) => elements.whole,
            _ => None,
        }
    }
}

impl Wrong {
    /// What the wrong kernel leaves.
    pub fn outputs(&self, problem: &Problem) -> Vec<Vec<f64>> {
        match self {
            Wrong::Formula(judged) => judged.emulate(problem, &Arithmetic::declared(problem.case)),
            Wrong::Outputs(compute) => compute(problem),
        }
    }
}
