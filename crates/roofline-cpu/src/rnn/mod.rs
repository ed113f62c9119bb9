//! `rnn`: h' = tanh(W_ih·x + b_ih + W_hh·h + b_hh), step after step; and what it shares with [`lstm`](crate::lstm) and
//! [`gru`](crate::gru).
//!
//! Layouts are PyTorch's: time comes first, and each gate has a block of rows of the weights.

pub mod plain;

use crate::args::{In, Out};
use crate::bind::kernel;
use crate::catalog::{Implementation, Launch};
use crate::scratch::Scratch;
use crate::{Args, Cpu, Datum, Mismatch, Scalar};
pub use plain::rnn;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("rnn", &[kernel!(f32, prepare, plain::rnn), kernel!(f64, prepare, plain::rnn)])];

/// Sizes of a layer and of what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Steps.
    pub seq: usize,
    /// Sequences.
    pub batch: usize,
    /// Length of an input.
    pub input: usize,
    /// Length of a state.
    pub hidden: usize,
}

impl Steps {
    pub(crate) fn of(args: &Args<'_>) -> Result<Steps, Mismatch> {
        let [seq, batch] = [args.axis("seq")?, args.axis("batch")?];
        Ok(Steps { seq, batch, input: args.axis("input")?, hidden: args.axis("hidden")? })
    }

    /// Panics unless slices have the lengths of a layer of so many gates; `states` are \[batch, hidden\] each.
    #[track_caller]
    pub(crate) fn check<T>(self, gates: usize, x: &[T], weights: Weights<'_, T>, y: &[T], states: &[usize]) {
        let Steps { seq, batch, input, hidden } = self;
        let rows = gates * hidden;
        assert_eq!([x.len(), y.len()], [input, hidden].map(|one| seq * batch * one), "lengths for {self:?}");
        let Weights { input: by_input, state, biases } = weights;
        assert_eq!(
            [by_input.len(), state.len()],
            [input, hidden].map(|one| rows * one),
            "weights of {self:?}"
        );
        assert!(biases.iter().all(|bias| bias.len() == rows), "biases of {self:?}");
        assert!(states.iter().all(|state| *state == batch * hidden), "states of {self:?}");
    }
}

/// What a layer has learnt.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// W_ih \[gates · hidden, input\].
    pub input: &'a [T],
    /// W_hh \[gates · hidden, hidden\].
    pub state: &'a [T],
    /// b_ih and b_hh, \[gates · hidden\] each.
    pub biases: [&'a [T]; 2],
}

/// sums = w·x + bias, row by row.
pub(crate) fn add_up<T: Scalar>(w: &[T], x: &[T], bias: &[T], sums: &mut [T::Wide]) {
    for (row, (sum, bias)) in sums.iter_mut().zip(bias).enumerate() {
        let weights = &w[row * x.len()..][..x.len()];
        *sum = weights.iter().zip(x).map(|(w, x)| w.wide() * x.wide()).sum::<T::Wide>() + bias.wide();
    }
}

/// Each step of each sequence: `next` gets W_ih·x + b_ih, W_hh·h + b_hh, h, the number of the sequence, and where the next
/// state goes. The last ones go to `hn` too.
pub(crate) fn walk<T: Scalar>(
    x: &[T],
    h0: &[T],
    weights: Weights<'_, T>,
    [y, hn]: [&mut [T]; 2],
    shape: Steps,
    mut next: impl FnMut([&[T::Wide]; 2], &[T], usize, &mut [T]),
) {
    let Steps { seq, batch, input, hidden } = shape;
    let rows = weights.biases[0].len();
    let (mut from_input, mut from_state) = (Scratch::take(rows), Scratch::take(rows));
    hn.copy_from_slice(h0);
    for t in 0..seq {
        for b in 0..batch {
            let state = &mut hn[b * hidden..(b + 1) * hidden];
            let x = &x[(t * batch + b) * input..][..input];
            add_up(weights.input, x, weights.biases[0], &mut from_input);
            add_up(weights.state, state, weights.biases[1], &mut from_state);
            let y = &mut y[(t * batch + b) * hidden..][..hidden];
            next([&from_input, &from_state], state, b, y);
            state.copy_from_slice(y);
        }
    }
}

/// The weights of a layer, as a kernel is given them.
pub(crate) struct Given<'a, T> {
    input: In<'a, T>,
    state: In<'a, T>,
    biases: [In<'a, T>; 2],
}

impl<'a, T: Datum> Given<'a, T> {
    pub(crate) fn of(args: &mut Args<'a>) -> Result<Self, Mismatch> {
        let biases = [args.take("b-ih")?, args.take("b-hh")?];
        Ok(Given { input: args.take("w-ih")?, state: args.take("w-hh")?, biases })
    }

    pub(crate) fn weights(&self) -> Weights<'_, T> {
        let [one, other] = &self.biases;
        Weights { input: &self.input, state: &self.state, biases: [one, other] }
    }
}

/// A layer that keeps nothing beside its state.
pub(crate) type Recur<T> = fn(&Cpu, &[T], &[T], Weights<'_, T>, [&mut [T]; 2], Steps);

pub(crate) fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Recur<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, h0): (In<'a, T>, In<'a, T>) = (args.take("x")?, args.take("h0")?);
    let given = Given::of(&mut args)?;
    let (mut y, mut hn): (Out<'a, T>, Out<'a, T>) = (args.take_out("y")?, args.take_out("hn")?);
    let shape = Steps::of(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &h0, given.weights(), [&mut y, &mut hn], shape)))
}
