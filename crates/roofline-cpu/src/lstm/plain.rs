//! The definition, one step of one sequence after the other.

use crate::rnn::{Steps, Weights, walk};
use crate::{Cpu, Float, Real, Scalar};

/// c' = σ(f)·c + σ(i)·tanh(g) and h' = σ(o)·tanh(c') from the first h and c: all states, the last ones, and the last
/// cells. The gates i, f, g and o have a block of rows each.
///
/// ```
/// use roofline_cpu::{Cpu, lstm, rnn::{Steps, Weights}};
///
/// // Gates that are half open and nothing new: a half of the cell before.
/// let weights = Weights { input: &[0.0; 4], above: &[], state: &[0.0; 4], biases: [&[0.0; 4], &[0.0; 4]] };
/// let (mut y, mut hn, mut cn) = ([0.0; 2], [0.0], [0.0]);
/// let shape = Steps { seq: 2, batch: 1, layers: 1, directions: 1, input: 1, hidden: 1 };
/// lstm(&Cpu::serial(), &[5.0, 7.0], [&[0.0], &[1.0]], weights, [&mut y, &mut hn, &mut cn], shape);
/// assert_eq!((cn, hn), ([0.25], [0.25f64.tanh() / 2.0]));
/// ```
pub fn lstm<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    [h0, c0]: [&[T]; 2],
    weights: Weights<'_, T>,
    [y, hn, cn]: [&mut [T]; 3],
    shape: Steps,
) {
    shape.check(4, x, weights, y, &[h0.len(), c0.len(), hn.len(), cn.len()]);
    let one = T::Wide::of(1.0);
    let sigmoid = |x: T::Wide| one / (one + (-x).exp());
    cn.copy_from_slice(c0);
    walk(x, h0, weights, [y, hn], shape, |[from_input, from_state], _, number, y| {
        let hidden = y.len();
        let cells = &mut cn[number * hidden..][..hidden];
        for (u, (y, c)) in y.iter_mut().zip(cells).enumerate() {
            let [i, f, g, o] =
                [0, 1, 2, 3].map(|gate| from_input[gate * hidden + u] + from_state[gate * hidden + u]);
            let cell = sigmoid(f) * c.wide() + sigmoid(i) * g.tanh();
            *c = T::narrow(cell);
            *y = T::narrow(sigmoid(o) * cell.tanh());
        }
    });
}
