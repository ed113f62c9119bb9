//! The definition, one step of one sequence after the other.

use super::{Steps, Weights, walk};
use crate::{Cpu, Float, Scalar};

/// h' = tanh(W_ih·x + b_ih + W_hh·h + b_hh): all states, and the last ones.
///
/// ```
/// use roofline_cpu::{Cpu, rnn::{Steps, Weights, plain::rnn}};
///
/// // A state that is the last input and a half of the state before.
/// let weights = Weights { input: &[1.0], state: &[0.5], biases: [&[0.0], &[0.0]] };
/// let (mut y, mut hn) = ([0.0; 2], [0.0]);
/// let shape = Steps { seq: 2, batch: 1, input: 1, hidden: 1 };
/// rnn(&Cpu::serial(), &[1.0, 0.0], &[0.0], weights, [&mut y, &mut hn], shape);
/// assert_eq!(y, [1.0f64.tanh(), (1.0f64.tanh() / 2.0).tanh()]);
/// assert_eq!(hn[0], y[1]);
/// ```
pub fn rnn<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    h0: &[T],
    weights: Weights<'_, T>,
    [y, hn]: [&mut [T]; 2],
    shape: Steps,
) {
    shape.check(1, x, weights, y, &[h0.len(), hn.len()]);
    walk(x, h0, weights, [y, hn], shape, |[from_input, from_state], _, _, y| {
        for (u, y) in y.iter_mut().enumerate() {
            *y = T::narrow((from_input[u] + from_state[u]).tanh());
        }
    });
}
