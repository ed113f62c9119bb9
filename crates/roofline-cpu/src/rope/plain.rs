//! The definition: each angle where it is needed.

use super::{Heads, Pair, turned};
use crate::{Cpu, Real, Scalar};

/// Turns the pairs of `x` by position · base^(−2i/dim).
///
/// ```
/// use roofline_cpu::{Cpu, rope::{Heads, Layout, plain::rope}};
///
/// let mut y = [0.0; 2];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope(&Cpu::serial(), &[1.0, 0.0], &[1], &mut y, shape, 10000.0);
/// assert_eq!(y, [1f64.cos(), 1f64.sin()]);
/// ```
pub fn rope<T: Scalar>(_cpu: &Cpu, x: &[T], positions: &[i32], y: &mut [T], shape: Heads, base: f64) {
    shape.check(x.len(), positions.len(), y.len());
    for pair @ Pair { a, b, .. } in shape.pairs() {
        (y[a], y[b]) = turned(x[a], x[b], turn::<T>(pair, positions, shape, base));
    }
}

/// The same, each pair where it lies.
///
/// ```
/// use roofline_cpu::{Cpu, rope::{Heads, Layout, plain::rope_in_place}};
///
/// let mut y = [1.0, 0.0];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope_in_place(&Cpu::serial(), &mut y, &[1], shape, 10000.0);
/// assert_eq!(y, [1f64.cos(), 1f64.sin()]);
/// ```
pub fn rope_in_place<T: Scalar>(_cpu: &Cpu, y: &mut [T], positions: &[i32], shape: Heads, base: f64) {
    shape.check(y.len(), positions.len(), y.len());
    for pair @ Pair { a, b, .. } in shape.pairs() {
        (y[a], y[b]) = turned(y[a], y[b], turn::<T>(pair, positions, shape, base));
    }
}

pub(super) fn turn<T: Scalar>(
    Pair { at, i, .. }: Pair,
    positions: &[i32],
    shape: Heads,
    base: f64,
) -> [T::Wide; 2] {
    let angle = f64::from(positions[at]) * base.powf(-2.0 * i as f64 / shape.dim as f64);
    [T::Wide::of(angle.cos()), T::Wide::of(angle.sin())]
}
