//! The definition: each angle where it is needed.

use super::Heads;
use crate::{Cpu, Real, Scalar};

/// Turns the pairs of `x` by position · base^(−2i/dim).
///
/// ```
/// use roofline_cpu::{Cpu, rope, rope::{Heads, Layout}};
///
/// let mut y = [0.0; 2];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope(&Cpu::serial(), &[1.0, 0.0], &[1], &mut y, shape, 10000.0);
/// assert_eq!(y, [1f64.cos(), 1f64.sin()]);
/// ```
pub fn rope<T: Scalar>(_cpu: &Cpu, x: &[T], positions: &[i32], y: &mut [T], shape: Heads, base: f64) {
    shape.check(x.len(), positions.len(), y.len());
    shape.turn(x, y, |s, i| {
        let angle = f64::from(positions[s]) * base.powf(-2.0 * i as f64 / shape.dim as f64);
        [T::Wide::of(angle.cos()), T::Wide::of(angle.sin())]
    });
}
