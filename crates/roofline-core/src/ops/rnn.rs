//! `rnn`: h' = tanh(W_ih·x + b_ih + W_hh·h + b_hh), step after step: a layer of the simplest cell, and what it shares with
//! [`lstm`](super::lstm) and [`gru`](super::gru).
//!
//! Layouts and the order of gates are PyTorch's: time comes first, each gate has a block of rows, and there are two
//! biases. Weights and biases are known beforehand and may be packed, as those of a trained layer are. They are drawn
//! within one over the root of the sums' length, so that states stay between gates that are open and gates that are shut
//! and what a step was off by is forgotten in the next ones. There are no narrow types: libraries differ in whether a
//! state is rounded from step to step, and each would be wrong where the other is right.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number, Rows};
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Work, Wrong};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "rnn",
    also: &["elman"],
    about: "h' = tanh(W_ih·x + b_ih + W_hh·h + b_hh), step after step",
    variants: &[Variant {
        name: "",
        about: "y[seq,batch,hidden] and the last state hn[batch,hidden] from x[seq,batch,input], h0, weights and biases",
    }],
    axes: &[
        Axis::new("seq", "steps"),
        Axis::new("batch", "sequences").usually(1),
        Axis::new("hidden", "length of a state"),
        Axis::new("input", "length of an input"),
    ],
    params: &[],
    precisions: &[Precision::of(Dtype::F32), Precision::of(Dtype::F64)],
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    // Of nothing there is no step: libraries refuse it.
    legal: "seq >= 1, batch >= 1, hidden >= 1, input >= 1",
    tensors: |case| tensors(case, CELL),
    work: |case| work(case, CELL, Counts { simple: 0, special: 1, ..Counts::default() }),
    judged: judged(|all, output, wanted| states(all, output, wanted, RIGHT)),
    mutants: &[
        shared("the second bias forgotten", |all, output, wanted| {
            states(all, output, wanted, How { both_biases: false, ..RIGHT })
        }),
        of_batches("the state of the sequence before", |all, output, wanted| {
            states(all, output, wanted, How { sequence: before, ..RIGHT })
        }),
        of_steps("time reversed", |all, output, wanted| {
            states(all, output, wanted, How { step: reversed, ..RIGHT })
        }),
        of_steps("the first state at every step", |all, output, wanted| {
            states(all, output, wanted, How { carries_state: false, ..RIGHT })
        }),
    ],
};

const CELL: Cell = Cell { gates: 1, keeps: false };

pub(super) const RIGHT: How = How {
    cell: CELL,
    next: |at| (at.map(|at, u| (at.from_input[u] + at.from_state[u]).tanh()), Vec::new()),
    step: |_, t| t,
    sequence: |_, b| b,
    both_biases: true,
    carries_state: true,
    carries_kept: true,
};

/// What kind of cell a layer has.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    /// Blocks of rows that weights have.
    pub gates: usize,
    /// Whether it keeps something beside its state.
    pub keeps: bool,
}

/// How a kernel goes about it: what mutants change.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub cell: Cell,
    /// The next state and what is kept.
    pub next: for<'a> fn(&At<'a, '_>) -> (Vec<Number<'a>>, Vec<Number<'a>>),
    /// The step of the input that step `t` reads.
    pub step: fn(&Case, usize) -> usize,
    /// The sequence whose first state sequence `b` begins with.
    pub sequence: fn(&Case, usize) -> usize,
    pub both_biases: bool,
    pub carries_state: bool,
    pub carries_kept: bool,
}

pub(super) fn reversed(case: &Case, t: usize) -> usize {
    case.axis("seq") - 1 - t
}

pub(super) fn before(case: &Case, b: usize) -> usize {
    let batch = case.axis("batch");
    (b + batch - 1) % batch
}

/// One step of one sequence.
pub(super) struct At<'a, 'b> {
    pub all: &'b All<'a>,
    /// W_ih·x + b_ih and W_hh·h + b_hh, gate after gate.
    pub from_input: Vec<Number<'a>>,
    pub from_state: Vec<Number<'a>>,
    pub state: &'b [Number<'a>],
    pub kept: &'b [Number<'a>],
    weights: &'b Rows,
    biases: &'b [Number<'a>],
}

impl<'a> At<'a, '_> {
    /// What comes of each unit.
    pub fn map<T>(&self, of: impl Fn(&Self, usize) -> T) -> Vec<T> {
        (0..self.state.len()).map(|unit| of(self, unit)).collect()
    }

    /// The argument of a gate at a unit.
    pub fn gate(&self, gate: usize, unit: usize) -> Number<'a> {
        let row = gate * self.state.len() + unit;
        self.from_input[row] + self.from_state[row]
    }

    /// W_hh·h + b_hh of another state.
    pub fn of_state(&self, state: &[Number<'a>]) -> Vec<Number<'a>> {
        added(self.all.weighted(state, self.weights), self.biases)
    }
}

fn added<'a>(sums: Vec<Number<'a>>, biases: &[Number<'a>]) -> Vec<Number<'a>> {
    if biases.is_empty() {
        return sums;
    }
    sums.into_iter().zip(biases).map(|(sum, bias)| sum + *bias).collect()
}

fn sizes(case: &Case) -> [usize; 4] {
    ["seq", "batch", "hidden", "input"].map(|axis| case.axis(axis))
}

pub(super) fn tensors(case: &Case, cell: Cell) -> Vec<Tensor> {
    let [seq, batch, hidden, input] = sizes(case);
    let dtype = case.dtype();
    let rows = cell.gates.saturating_mul(hidden);
    let most = |length: usize| 1.0 / (length.max(1) as f64).sqrt();
    let within = |length: usize| Content::Within { low: -most(length), high: most(length) };
    // What one element of a long input changes is small.
    let visible = (1.0 / most(input) / 8.0).max(1.0);
    let mut tensors = vec![
        Tensor::input("x", dtype, &[seq, batch, input]).limit(8.0).step(visible),
        Tensor::input("h0", dtype, &[batch, hidden]).limit(2.0),
    ];
    if cell.keeps {
        tensors.push(Tensor::input("c0", dtype, &[batch, hidden]).limit(2.0));
    }
    tensors.extend([
        Tensor::constant("w-ih", dtype, &[rows, input]).holding(within(input)),
        Tensor::constant("w-hh", dtype, &[rows, hidden]).holding(within(hidden)),
        Tensor::constant("b-ih", dtype, &[rows]).holding(within(hidden)),
        Tensor::constant("b-hh", dtype, &[rows]).holding(within(hidden)),
        Tensor::output("y", dtype, &[seq, batch, hidden]),
        Tensor::output("hn", dtype, &[batch, hidden]),
    ]);
    if cell.keeps {
        tensors.push(Tensor::output("cn", dtype, &[batch, hidden]));
    }
    tensors
}

/// Two products and their sums, and what a unit does beside them at each step.
pub(super) fn work(case: &Case, cell: Cell, unit: Counts) -> Work {
    let [seq, batch, hidden, input] = sizes(case).map(|size| size as u64);
    let gates = cell.gates as u64;
    let unit = Counts {
        multiply_adds: gates.saturating_mul(input.saturating_add(hidden)),
        simple: unit.simple + 3 * gates,
        ..unit
    };
    whole::work(case, unit, seq.saturating_mul(batch).saturating_mul(hidden))
}

/// The wanted elements: those of a sequence from its first step up to the last that is wanted.
pub(super) fn states<'a>(all: &All<'a>, output: usize, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [seq, batch, hidden, _] = sizes(all.case());
    let place = |element: usize| match output {
        0 => (element / hidden % batch, element / (batch * hidden), element % hidden),
        _ => (element / hidden, seq - 1, element % hidden),
    };
    let layer = Layer::new(all, how);
    let mut found: Vec<Number> = vec![all.number(0.0); wanted.len()];
    for b in 0..batch {
        let own = wanted.iter().enumerate().map(|(index, element)| (index, place(*element)));
        let own: Vec<(usize, usize, usize)> =
            own.filter(|(_, (of, _, _))| *of == b).map(|(index, (_, t, unit))| (index, t, unit)).collect();
        let Some(last) = own.iter().map(|(_, t, _)| *t).max() else { continue };
        let (mut state, mut kept) = layer.first(b);
        for t in 0..last + 1 {
            (state, kept) = layer.next(b, t, state, kept);
            let result = if output == 2 { &kept } else { &state };
            let now = own.iter().filter(|(_, of, _)| *of == t);
            now.for_each(|(index, _, unit)| found[*index] = result[*unit]);
        }
    }
    found
}

/// A layer with its weights.
struct Layer<'a, 'b> {
    all: &'b All<'a>,
    how: How,
    from_input: Rows,
    from_state: Rows,
    biases: [Vec<Number<'a>>; 2],
}

impl<'a, 'b> Layer<'a, 'b> {
    fn new(all: &'b All<'a>, how: How) -> Layer<'a, 'b> {
        let rows = how.cell.gates * all.axis("hidden");
        let weights = 2 + usize::from(how.cell.keeps);
        let bias = |tensor: usize| (0..rows).map(|row| all.x(tensor, row)).collect::<Vec<_>>();
        let second = if how.both_biases { bias(weights + 3) } else { Vec::new() };
        Layer {
            all,
            how,
            from_input: all.rows(weights, rows),
            from_state: all.rows(weights + 1, rows),
            biases: [bias(weights + 2), second],
        }
    }

    /// The state that a sequence begins with, and what is kept.
    fn first(&self, b: usize) -> (Vec<Number<'a>>, Vec<Number<'a>>) {
        let hidden = self.all.axis("hidden");
        let b = (self.how.sequence)(self.all.case(), b);
        let row = |tensor: usize| (0..hidden).map(|unit| self.all.x(tensor, b * hidden + unit)).collect();
        (row(1), if self.how.cell.keeps { row(2) } else { Vec::new() })
    }

    fn next(
        &self,
        b: usize,
        t: usize,
        state: Vec<Number<'a>>,
        kept: Vec<Number<'a>>,
    ) -> (Vec<Number<'a>>, Vec<Number<'a>>) {
        let [_, batch, _, input] = sizes(self.all.case());
        let (all, how) = (self.all, self.how);
        let (state, kept) = match t {
            0 => (state, kept),
            _ => {
                let first = self.first(b);
                (
                    if how.carries_state { state } else { first.0 },
                    if how.carries_kept { kept } else { first.1 },
                )
            }
        };
        let row = ((how.step)(all.case(), t) * batch + b) * input;
        let x: Vec<Number> = (row..row + input).map(|element| all.x(0, element)).collect();
        let at = At {
            all,
            from_input: added(all.weighted(&x, &self.from_input), &self.biases[0]),
            from_state: added(all.weighted(&state, &self.from_state), &self.biases[1]),
            state: &state,
            kept: &kept,
            weights: &self.from_state,
            biases: &self.biases[1],
        };
        (how.next)(&at)
    }
}

pub(super) const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach })
}

/// A mistake that every cell can have.
pub(super) const fn shared(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

pub(super) const fn of_batches(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { of: |case| case.axis("batch") > 1, ..shared(name, formula) }
}

pub(super) const fn of_steps(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { of: |case| case.axis("seq") > 1, ..shared(name, formula) }
}

/// What is read at a step reaches its sequence from then on: all units, but of what one unit alone reads, or keeps, that
/// one at first. Where it shows most comes first.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let case = problem.case;
    let [seq, batch, hidden, input] = sizes(case);
    let keeps = problem.inputs.len() > 6;
    let outputs = if keeps { 3 } else { 2 };
    // From which step on, of which sequence if of one alone, and of which unit first if of one alone.
    let (from, sequence, unit) = match tensor {
        0 => (element / (batch * input), Some(element / input % batch), None),
        1 => (0, Some(element / hidden), None),
        2 if keeps => (0, Some(element / hidden), Some(element % hidden)),
        _ => {
            let row = match tensor - usize::from(keeps) {
                2 => element / input,
                3 => element / hidden,
                _ => element,
            };
            (0, None, Some(row % hidden))
        }
    };
    let states = |output: usize, first: usize, is_first: bool| match (sequence, unit.filter(|_| is_first)) {
        (Some(b), Some(unit)) => Reach { output, first: first + b * hidden + unit, step: 1, count: 1 },
        (Some(b), None) => Reach { output, first: first + b * hidden, step: 1, count: hidden },
        (None, Some(unit)) => Reach { output, first: first + unit, step: hidden, count: batch },
        (None, None) => Reach { output, first, step: 1, count: batch * hidden },
    };
    let steps = (from..seq).map(|t| states(0, t * batch * hidden, t == from));
    let last = (1..outputs).map(|output| states(output, 0, from + 1 == seq));
    steps.chain(last).collect()
}
