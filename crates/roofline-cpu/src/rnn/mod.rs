//! `rnn`: h' = tanh(W_ih·x + b_ih + W_hh·h + b_hh), step after step; and what it shares with [`lstm`](crate::lstm) and
//! [`gru`](crate::gru).
//!
//! Layouts are PyTorch's: time comes first, and each gate has a block of rows of the weights. A layer that goes both ways
//! has two cells, of which the second reads from the last step on.

pub mod plain;

use crate::args::{In, Out};
use crate::bind::kernel;
use crate::catalog::{Implementation, Launch};
use crate::scratch::Scratch;
use crate::{Args, Cpu, Datum, Mismatch, Scalar};
pub use plain::{rnn, rnn_relu};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain(
        "rnn",
        &[kernel!(f32, prepare, 1, plain::rnn), kernel!(f64, prepare, 1, plain::rnn)],
    ),
    Implementation::plain(
        "rnn.bidirectional",
        &[kernel!(f32, prepare, 2, plain::rnn), kernel!(f64, prepare, 2, plain::rnn)],
    ),
    Implementation::plain(
        "rnn.relu",
        &[kernel!(f32, prepare, 1, plain::rnn_relu), kernel!(f64, prepare, 1, plain::rnn_relu)],
    ),
    Implementation::plain(
        "rnn.relu-bidirectional",
        &[kernel!(f32, prepare, 2, plain::rnn_relu), kernel!(f64, prepare, 2, plain::rnn_relu)],
    ),
];

/// Sizes of layers and of what they read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Steps.
    pub seq: usize,
    /// Sequences.
    pub batch: usize,
    /// Layers, each of which reads what the one below wrote.
    pub layers: usize,
    /// 2 where a second cell of each layer reads from the last step on, else 1.
    pub directions: usize,
    /// Length of an input.
    pub input: usize,
    /// Length of a state.
    pub hidden: usize,
}

impl Steps {
    pub(crate) fn of(args: &Args<'_>, directions: usize) -> Result<Steps, Mismatch> {
        let [seq, batch, layers] = [args.axis("seq")?, args.axis("batch")?, args.axis("layers")?];
        Ok(Steps { seq, batch, layers, directions, input: args.axis("input")?, hidden: args.axis("hidden")? })
    }

    /// Numbers that a layer writes at a step.
    fn width(self) -> usize {
        self.directions * self.hidden
    }

    /// Panics unless slices have the lengths of layers of so many gates; `states` are \[layers · directions, batch, hidden\]
    /// each.
    #[track_caller]
    pub(crate) fn check<T>(self, gates: usize, x: &[T], weights: Weights<'_, T>, y: &[T], states: &[usize]) {
        let Steps { seq, batch, layers, directions, input, hidden } = self;
        let (rows, cells, width) = (gates * hidden, layers * directions, self.width());
        assert!(layers > 0 && (1..3).contains(&directions), "layers and directions of {self:?}");
        assert_eq!([x.len(), y.len()], [input, width].map(|one| seq * batch * one), "lengths for {self:?}");
        let lengths = [weights.input.len(), weights.above.len(), weights.state.len()];
        let right = [directions * rows * input, (cells - directions) * rows * width, cells * rows * hidden];
        assert_eq!(lengths, right, "weights of {self:?}");
        assert!(weights.biases.iter().all(|bias| bias.len() == cells * rows), "biases of {self:?}");
        assert!(states.iter().all(|state| *state == cells * batch * hidden), "states of {self:?}");
    }
}

/// What layers have learnt, cell after cell.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// W_ih of the first layer \[directions, gates · hidden, input\].
    pub input: &'a [T],
    /// W_ih of the layers above \[layers - 1, directions, gates · hidden, directions · hidden\].
    pub above: &'a [T],
    /// W_hh \[layers, directions, gates · hidden, hidden\].
    pub state: &'a [T],
    /// b_ih and b_hh, \[layers, directions, gates · hidden\] each.
    pub biases: [&'a [T]; 2],
}

impl<'a, T> Weights<'a, T> {
    /// Those of one cell.
    fn of(self, layer: usize, direction: usize, shape: Steps) -> Weights<'a, T> {
        let Steps { layers, directions, .. } = shape;
        let part = |all: &'a [T], parts: usize, number: usize| {
            let length = all.len() / parts;
            &all[number * length..][..length]
        };
        let (cells, cell) = (layers * directions, layer * directions + direction);
        Weights {
            input: match layer {
                0 => part(self.input, directions, direction),
                _ => part(self.above, cells - directions, cell - directions),
            },
            above: &[],
            state: part(self.state, cells, cell),
            biases: self.biases.map(|bias| part(bias, cells, cell)),
        }
    }
}

/// sums = w·x + bias, row by row.
pub(crate) fn add_up<T: Scalar>(w: &[T], x: &[T], bias: &[T], sums: &mut [T::Wide]) {
    for (row, (sum, bias)) in sums.iter_mut().zip(bias).enumerate() {
        let weights = &w[row * x.len()..][..x.len()];
        *sum = weights.iter().zip(x).map(|(w, x)| w.wide() * x.wide()).sum::<T::Wide>() + bias.wide();
    }
}

/// Each step of each sequence, layer after layer: `next` gets W_ih·x + b_ih, W_hh·h + b_hh, h, the number of that state
/// among all, and where the next one goes. The last ones go to `hn` too.
pub(crate) fn walk<T: Scalar>(
    x: &[T],
    h0: &[T],
    weights: Weights<'_, T>,
    [y, hn]: [&mut [T]; 2],
    shape: Steps,
    mut next: impl FnMut([&[T::Wide]; 2], &[T], usize, &mut [T]),
) {
    let Steps { seq, batch, layers, directions, input, hidden } = shape;
    let (cells, width) = (layers * directions, shape.width());
    let rows = weights.biases[0].len() / cells;
    let (mut from_input, mut from_state) = (Scratch::take(rows), Scratch::take(rows));
    let mut below: Scratch<T> = Scratch::take(if layers > 1 { y.len() } else { 0 });
    hn.copy_from_slice(h0);
    for layer in 0..layers {
        // What the layer below wrote is read while this one writes there.
        let (x, length) = match layer {
            0 => (x, input),
            _ => {
                below.copy_from_slice(y);
                (&*below, width)
            }
        };
        for direction in 0..directions {
            let weights = weights.of(layer, direction, shape);
            for read in 0..seq {
                let t = if direction == 0 { read } else { seq - 1 - read };
                for b in 0..batch {
                    let number = (layer * directions + direction) * batch + b;
                    let state = &mut hn[number * hidden..][..hidden];
                    let x = &x[(t * batch + b) * length..][..length];
                    add_up(weights.input, x, weights.biases[0], &mut from_input);
                    add_up(weights.state, state, weights.biases[1], &mut from_state);
                    let y = &mut y[(t * batch + b) * width + direction * hidden..][..hidden];
                    next([&from_input, &from_state], state, number, y);
                    state.copy_from_slice(y);
                }
            }
        }
    }
}

/// The weights of layers, as a kernel is given them.
pub(crate) struct Given<'a, T> {
    input: In<'a, T>,
    /// Where there is a layer above the first.
    above: Option<In<'a, T>>,
    state: In<'a, T>,
    biases: [In<'a, T>; 2],
}

impl<'a, T: Datum> Given<'a, T> {
    pub(crate) fn of(args: &mut Args<'a>) -> Result<Self, Mismatch> {
        let biases = [args.take("b-ih")?, args.take("b-hh")?];
        let above = if args.axis("layers")? > 1 { Some(args.take("w-up")?) } else { None };
        Ok(Given { input: args.take("w-ih")?, above, state: args.take("w-hh")?, biases })
    }

    pub(crate) fn weights(&self) -> Weights<'_, T> {
        let [one, other] = &self.biases;
        let above = self.above.as_ref().map_or(&[][..], |above| above);
        Weights { input: &self.input, above, state: &self.state, biases: [one, other] }
    }
}

/// Layers that keep nothing beside their states.
pub(crate) type Recur<T> = fn(&Cpu, &[T], &[T], Weights<'_, T>, [&mut [T]; 2], Steps);

pub(crate) fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    directions: usize,
    kernel: Recur<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, h0): (In<'a, T>, In<'a, T>) = (args.take("x")?, args.take("h0")?);
    let given = Given::of(&mut args)?;
    let (mut y, mut hn): (Out<'a, T>, Out<'a, T>) = (args.take_out("y")?, args.take_out("hn")?);
    let shape = Steps::of(&args, directions)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &h0, given.weights(), [&mut y, &mut hn], shape)))
}
