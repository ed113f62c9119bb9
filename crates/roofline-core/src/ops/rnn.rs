//! `rnn`: h' = tanh(W_ih·x + b_ih + W_hh·h + b_hh), step after step: layers of the simplest cell, and what they share with
//! those of [`lstm`](super::lstm) and [`gru`](super::gru).
//!
//! A layer reads what the one below wrote; one that goes both ways has a second cell, which reads from the last step to
//! the first and whose states stand beside those of the first cell.
//!
//! Layouts and the order of gates are PyTorch's: time comes first, each gate has a block of rows, and there are two
//! biases. Weights and biases are known beforehand and may be packed, as those of a trained layer are. They are drawn
//! within one over the root of the sums' length, so that states stay between gates that are open and gates that are shut
//! and what a step was off by is forgotten in the next ones. There are no narrow types: libraries differ in whether a
//! state is rounded from step to step, and each would be wrong where the other is right.

mod reach;
mod stack;

use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, Whole};
use crate::operation::{Axis, Judged, Mutant, Operation, RateUnit, Variant, Work, Wrong};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};
pub(super) use stack::{At, states};

/// Mutants of a cell that does so: its own, and those that every cell has.
macro_rules! mutants {
    ($right:expr; $($own:expr),+ $(,)?) => {
        &[
            $($own,)+
            $crate::ops::rnn::shared("the second bias forgotten", |all, output, wanted| {
                states(all, output, wanted, How { both_biases: false, ..$right })
            }),
            $crate::ops::rnn::of_batches("the state of the sequence before", |all, output, wanted| {
                states(all, output, wanted, How { sequence: $crate::ops::rnn::before, ..$right })
            }),
            $crate::ops::rnn::of_steps("time reversed", |all, output, wanted| {
                states(all, output, wanted, How { step: $crate::ops::rnn::reversed, ..$right })
            }),
            $crate::ops::rnn::of_layers("the first states of the first layer in all", |all, output, wanted| {
                states(all, output, wanted, How { first_of: |_| 0, ..$right })
            }),
            $crate::ops::rnn::of_layers("the first layer's weights of states in all", |all, output, wanted| {
                states(all, output, wanted, How { weights_of: |_| 0, ..$right })
            }),
            $crate::ops::rnn::of_directions("states in the order that they were read", |all, output, wanted| {
                states(all, output, wanted, How { written: |_, read, _| read, ..$right })
            }),
            $crate::ops::rnn::of_directions("the two directions exchanged", |all, output, wanted| {
                states(all, output, wanted, How { half: |direction, of| of - 1 - direction, ..$right })
            }),
        ]
    };
}

pub(super) use mutants;

pub const OPERATION: Operation = Operation {
    name: "rnn",
    also: &["elman"],
    about: "h' = tanh(W_ih·x + b_ih + W_hh·h + b_hh), step after step",
    variants: &[
        Variant {
            name: "",
            about: "y[seq,batch,hidden] and the last states hn[layers,batch,hidden] from x[seq,batch,input], h0, weights and biases",
        },
        Variant { name: "bidirectional", about: BOTH_WAYS },
        Variant { name: "relu", about: "max(·, 0) in place of the hyperbolic tangent" },
        Variant { name: "relu-bidirectional", about: "the same both ways" },
    ],
    axes: &[
        Axis::new("seq", "steps"),
        Axis::new("batch", "sequences").usually(1),
        Axis::new("layers", "layers, each of which reads the one below").usually(1),
        Axis::new("hidden", "length of a state"),
        Axis::new("input", "length of an input"),
    ],
    params: &[],
    precisions: &[Precision::of(Dtype::F32), Precision::of(Dtype::F64)],
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    // Of nothing there is no step: libraries refuse it. What a layer may be off by grows in each one above it, and of a third
    // a bound in long sequences would say nothing.
    legal: "seq >= 1, batch >= 1, layers >= 1, layers <= 2, hidden >= 1, input >= 1",
    tensors: |case| tensors(case, CELL),
    work: |case| work(case, CELL, Counts { simple: 0, special: 1, ..Counts::default() }),
    judged: judged(|all, output, wanted| states(all, output, wanted, RIGHT)),
    mutants: mutants!(RIGHT;
        Mutant {
            of: is_relu,
            ..shared("tanh in place of relu", |all, output, wanted| {
                states(all, output, wanted, How { next: |at| activated(at, |_, sum| sum.tanh()), ..RIGHT })
            })
        },
        Mutant {
            of: is_relu,
            fill: Fill::Extreme,
            ..shared("nothing in place of relu", |all, output, wanted| {
                states(all, output, wanted, How { next: |at| activated(at, |_, sum| sum), ..RIGHT })
            })
        },
        of_steps("the first state at every step", |all, output, wanted| {
            states(all, output, wanted, How { carries_state: false, ..RIGHT })
        }),
    ),
};

/// What the forms that go both ways have.
pub(super) const BOTH_WAYS: &str = "each layer has a second cell, which reads from the last step on: y[seq,batch,2·hidden], hn[2·layers,batch,hidden]";

const CELL: Cell = Cell { gates: 1, keeps: false };

pub(super) const RIGHT: How = How {
    cell: CELL,
    next: |at| {
        let is_relu = is_relu(at.all.case());
        activated(at, if is_relu { |at, sum| sum.max(at.all.number(0.0)) } else { |_, sum| sum.tanh() })
    },
    step: |_, t| t,
    sequence: |_, b| b,
    first_of: |layer| layer,
    weights_of: |layer| layer,
    written: |direction, read, steps| if direction == 0 { read } else { steps - 1 - read },
    half: |direction, _| direction,
    both_biases: true,
    carries_state: true,
    carries_kept: true,
};

fn is_relu(case: &Case) -> bool {
    case.variant.starts_with("relu")
}

/// What a function makes of the sum at each unit.
fn activated<'a>(
    at: &At<'a, '_>,
    of: fn(&At<'a, '_>, Number<'a>) -> Number<'a>,
) -> (Vec<Number<'a>>, Vec<Number<'a>>) {
    (at.map(|at, u| of(at, at.from_input[u] + at.from_state[u])), Vec::new())
}

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
    /// The layer whose first states one begins with.
    pub first_of: fn(usize) -> usize,
    /// The layer whose weights of states, and biases, one has.
    pub weights_of: fn(usize) -> usize,
    /// The step that a direction's state is written to, which is so many after the one that it read first.
    pub written: fn(usize, usize, usize) -> usize,
    /// Where among so many a direction's states stand.
    pub half: fn(usize, usize) -> usize,
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

/// Sizes of layers and of what they read.
#[derive(Clone, Copy)]
struct Sizes {
    seq: usize,
    batch: usize,
    layers: usize,
    directions: usize,
    hidden: usize,
    input: usize,
}

impl Sizes {
    fn of(case: &Case) -> Sizes {
        let [seq, batch, layers, hidden, input] =
            ["seq", "batch", "layers", "hidden", "input"].map(|axis| case.axis(axis));
        let directions = if case.variant.ends_with("bidirectional") { 2 } else { 1 };
        Sizes { seq, batch, layers, directions, hidden, input }
    }

    /// Numbers that a layer writes at a step.
    fn width(self) -> usize {
        self.directions.saturating_mul(self.hidden)
    }
}

pub(super) fn tensors(case: &Case, cell: Cell) -> Vec<Tensor> {
    let sizes = Sizes::of(case);
    let Sizes { seq, batch, layers, directions, hidden, input } = sizes;
    let dtype = case.dtype();
    let cells = layers.saturating_mul(directions);
    let rows = |cells: usize| cell.gates.saturating_mul(hidden).saturating_mul(cells);
    let most = |length: usize| 1.0 / (length.max(1) as f64).sqrt();
    let within =
        |length: usize, part: f64| Content::Within { low: -part * most(length), high: part * most(length) };
    // A unit that is shut hides what reaches it: those of relu are mostly open.
    let (part, biases) = match is_relu(case) {
        true => (1.0 / 3.0, Content::Within { low: 0.75, high: 1.25 }),
        false => (1.0, within(hidden, 1.0)),
    };
    // What one element of a long input changes is small.
    let visible = (1.0 / most(input) / 8.0).max(1.0);
    let states = [cells, batch, hidden];
    let mut tensors = vec![
        Tensor::input("x", dtype, &[seq, batch, input]).limit(8.0).step(visible),
        Tensor::input("h0", dtype, &states).limit(2.0),
    ];
    if cell.keeps {
        tensors.push(Tensor::input("c0", dtype, &states).limit(2.0));
    }
    tensors.extend([
        Tensor::constant("w-ih", dtype, &[rows(directions), input]).holding(within(input, 1.0)),
        Tensor::constant("w-hh", dtype, &[rows(cells), hidden]).holding(within(hidden, part)),
        Tensor::constant("b-ih", dtype, &[rows(cells)]).holding(biases),
        Tensor::constant("b-hh", dtype, &[rows(cells)]).holding(biases),
    ]);
    if layers > 1 {
        let up = Tensor::constant("w-up", dtype, &[rows(cells - directions), sizes.width()]);
        tensors.push(up.holding(within(sizes.width(), part)));
    }
    tensors.extend([
        Tensor::output("y", dtype, &[seq, batch, sizes.width()]),
        Tensor::output("hn", dtype, &states),
    ]);
    if cell.keeps {
        tensors.push(Tensor::output("cn", dtype, &states));
    }
    tensors
}

/// Two products and their sums, and what a unit does beside them at each step.
pub(super) fn work(case: &Case, cell: Cell, unit: Counts) -> Work {
    let sizes = Sizes::of(case);
    let [seq, batch, layers, width, hidden, input] =
        [sizes.seq, sizes.batch, sizes.layers, sizes.width(), sizes.hidden, sizes.input]
            .map(|size| size as u64);
    let gates = cell.gates as u64;
    // Of a unit in all layers.
    let read = hidden.saturating_mul(layers).saturating_add(width.saturating_mul(layers - 1));
    let unit = Counts {
        multiply_adds: gates.saturating_mul(read.saturating_add(input)),
        simple: layers * (unit.simple + 3 * gates),
        special: layers * unit.special,
    };
    whole::work(case, unit, seq.saturating_mul(batch).saturating_mul(width))
}

pub(super) const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach: reach::reach })
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

pub(super) const fn of_layers(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { of: |case| case.axis("layers") > 1, ..shared(name, formula) }
}

pub(super) const fn of_directions(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { of: |case| case.axis("seq") > 1 && Sizes::of(case).directions > 1, ..shared(name, formula) }
}
