//! The definition, one step of one sequence after the other.

use crate::rnn::{Steps, Weights, walk};
use crate::{Cpu, Float, Real, Scalar};

/// h' = (1 − z)·n + z·h: all states, and the last ones. The gates r, z and n have a block of rows each.
///
/// ```
/// use roofline_cpu::{Cpu, gru, rnn::{Steps, Weights}};
///
/// // Gates that are half open and nothing new: a half of the state before.
/// let weights = Weights { input: &[0.0; 3], above: &[], state: &[0.0; 3], biases: [&[0.0; 3], &[0.0; 3]] };
/// let (mut y, mut hn) = ([0.0; 2], [0.0]);
/// let shape = Steps { seq: 2, batch: 1, layers: 1, directions: 1, input: 1, hidden: 1 };
/// gru(&Cpu::serial(), &[5.0, 7.0], &[1.0], weights, [&mut y, &mut hn], shape);
/// assert_eq!((y, hn), ([0.5, 0.25], [0.25]));
/// ```
pub fn gru<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    h0: &[T],
    weights: Weights<'_, T>,
    [y, hn]: [&mut [T]; 2],
    shape: Steps,
) {
    shape.check(3, x, weights, y, &[h0.len(), hn.len()]);
    let one = T::Wide::of(1.0);
    let sigmoid = |x: T::Wide| one / (one + (-x).exp());
    walk(x, h0, weights, [y, hn], shape, |[from_input, from_state], state, _, y| {
        let hidden = y.len();
        for (u, (y, h)) in y.iter_mut().zip(state).enumerate() {
            let [r, z, n] = [u, hidden + u, 2 * hidden + u];
            let r = sigmoid(from_input[r] + from_state[r]);
            let z = sigmoid(from_input[z] + from_state[z]);
            let n = (from_input[n] + r * from_state[n]).tanh();
            *y = T::narrow((one - z) * n + z * h.wide());
        }
    });
}
