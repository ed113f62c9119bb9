//! Attention to the last keys alone.

use super::{Heads, Rule, attention};
use crate::{Cpu, Scalar};

/// [`attention`] of each query to the last `window` keys up to its own place; `scale` is 1/√dim unless said.
///
/// ```
/// use roofline_cpu::{Cpu, attention::Heads, window_attention};
///
/// let (q, v, mut y) = ([0.0; 3], [1.0, 3.0, 5.0], [0.0; 3]);
/// window_attention(&Cpu::serial(), [&q, &q, &v], &mut y, Heads::new(3, 1, 1), 2, None);
/// assert_eq!(y, [1.0, 2.0, 4.0]);
/// ```
pub fn window_attention<T: Scalar>(
    cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    window: usize,
    scale: Option<f64>,
) {
    attention(cpu, qkv, y, shape, Rule::Window(window), scale);
}
