//! Angles looked up: one row of the tables for all heads of a position.

use super::{Heads, Tables};
use crate::{Cpu, Scalar};

/// Turns the pairs of `x` by the angles of the tables' row for each position.
///
/// ```
/// use roofline_cpu::{Cpu, rope_cached, rope::{Heads, Layout}};
///
/// let mut y = [0.0; 2];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope_cached(&Cpu::serial(), &[1.0, 0.0], &[1], [&[1.0, 0.0], &[0.0, 1.0]], &mut y, shape);
/// assert_eq!(y, [0.0, 1.0]);
/// ```
pub fn rope_cached<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    positions: &[i32],
    [cos, sin]: Tables<'_, T::Wide>,
    y: &mut [T],
    shape: Heads,
) {
    shape.check(x.len(), positions.len(), y.len());
    shape.turn(x, y, |s, i| {
        let at = positions[s] as usize * (shape.dim / 2) + i;
        [cos[at], sin[at]]
    });
}
