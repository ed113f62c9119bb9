//! The definition, one step of one sequence after the other.

use super::{Steps, Weights, walk};
use crate::{Cpu, Float, Real, Scalar};

/// h' = tanh(W_ih·x + b_ih + W_hh·h + b_hh): all states, and the last ones.
///
/// ```
/// use roofline_cpu::{Cpu, rnn::{Steps, Weights, plain::rnn}};
///
/// // A state that is the last input and a half of the state before.
/// let weights = Weights { input: &[1.0], above: &[], state: &[0.5], biases: [&[0.0], &[0.0]] };
/// let (mut y, mut hn) = ([0.0; 2], [0.0]);
/// let shape = Steps { seq: 2, batch: 1, layers: 1, directions: 1, input: 1, hidden: 1 };
/// rnn(&Cpu::serial(), &[1.0, 0.0], &[0.0], weights, [&mut y, &mut hn], shape);
/// assert_eq!(y, [1.0f64.tanh(), (1.0f64.tanh() / 2.0).tanh()]);
/// assert_eq!(hn[0], y[1]);
/// ```
pub fn rnn<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    h0: &[T],
    weights: Weights<'_, T>,
    outputs: [&mut [T]; 2],
    shape: Steps,
) {
    activated(x, h0, weights, outputs, shape, |sum| sum.tanh());
}

/// h' = max(W_ih·x + b_ih + W_hh·h + b_hh, 0): all states, and the last ones.
///
/// ```
/// use roofline_cpu::{Cpu, rnn::{Steps, Weights, plain::rnn_relu}};
///
/// // Each input and a half of the state before, where that is above zero; the second layer hands it on.
/// let weights = Weights { input: &[1.0], above: &[1.0], state: &[0.5, 0.0], biases: [&[0.0; 2], &[0.0; 2]] };
/// let (mut y, mut hn) = ([0.0; 3], [0.0; 2]);
/// let shape = Steps { seq: 3, batch: 1, layers: 2, directions: 1, input: 1, hidden: 1 };
/// rnn_relu(&Cpu::serial(), &[4.0, 1.0, -7.0], &[0.0; 2], weights, [&mut y, &mut hn], shape);
/// assert_eq!(y, [4.0, 3.0, 0.0]);
/// ```
pub fn rnn_relu<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    h0: &[T],
    weights: Weights<'_, T>,
    outputs: [&mut [T]; 2],
    shape: Steps,
) {
    let zero = T::Wide::of(0.0);
    activated(x, h0, weights, outputs, shape, |sum| if sum < zero { zero } else { sum });
}

fn activated<T: Scalar>(
    x: &[T],
    h0: &[T],
    weights: Weights<'_, T>,
    [y, hn]: [&mut [T]; 2],
    shape: Steps,
    of: impl Fn(T::Wide) -> T::Wide,
) {
    shape.check(1, x, weights, y, &[h0.len(), hn.len()]);
    walk(x, h0, weights, [y, hn], shape, |[from_input, from_state], _, _, y| {
        for (u, y) in y.iter_mut().enumerate() {
            *y = T::narrow(of(from_input[u] + from_state[u]));
        }
    });
}
