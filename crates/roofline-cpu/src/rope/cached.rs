//! Angles looked up: one row of the tables for all heads of a position.

use super::plain::turn;
use super::{Heads, Pair, Tables, turned};
use crate::{Cpu, Scalar};

/// Turns the pairs of `x` by the angles of the tables' row for each position.
///
/// ```
/// use roofline_cpu::{Cpu, rope::{Heads, Layout, cached::rope_cached}};
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
    tables: Tables<'_, T::Wide>,
    y: &mut [T],
    shape: Heads,
) {
    shape.check(x.len(), positions.len(), y.len());
    for pair @ Pair { a, b, .. } in shape.pairs() {
        (y[a], y[b]) = turned(x[a], x[b], looked_up(pair, positions, tables, shape));
    }
}

/// The same, with angles of position · base^(−2i/dim) for positions that the tables have no row for.
///
/// ```
/// use roofline_cpu::{Cpu, rope::{Heads, Layout, cached::rope_cached_beyond}};
///
/// let (mut y, x) = ([0.0; 4], [1.0, 0.0, 1.0, 0.0]);
/// let shape = Heads { seq: 2, heads: 1, dim: 2, layout: Layout::Half };
/// rope_cached_beyond(&Cpu::serial(), &x, &[1, 2], [&[1.0, 0.0], &[0.0, 1.0]], &mut y, shape, 10000.0);
/// assert_eq!(y, [0.0, 1.0, 2f64.cos(), 2f64.sin()]);
/// ```
pub fn rope_cached_beyond<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    positions: &[i32],
    tables: Tables<'_, T::Wide>,
    y: &mut [T],
    shape: Heads,
    base: f64,
) {
    shape.check(x.len(), positions.len(), y.len());
    for pair @ Pair { at, a, b, .. } in shape.pairs() {
        let has_row = (positions[at] as usize + 1) * (shape.dim / 2) <= tables[0].len();
        let cos_sin = match has_row {
            true => looked_up(pair, positions, tables, shape),
            false => turn::<T>(pair, positions, shape, base),
        };
        (y[a], y[b]) = turned(x[a], x[b], cos_sin);
    }
}

/// The same as the first, each pair where it lies.
///
/// ```
/// use roofline_cpu::{Cpu, rope::{Heads, Layout, cached::rope_cached_in_place}};
///
/// let mut y = [1.0, 0.0];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope_cached_in_place(&Cpu::serial(), &mut y, &[1], [&[1.0, 0.0], &[0.0, 1.0]], shape);
/// assert_eq!(y, [0.0, 1.0]);
/// ```
pub fn rope_cached_in_place<T: Scalar>(
    _cpu: &Cpu,
    y: &mut [T],
    positions: &[i32],
    tables: Tables<'_, T::Wide>,
    shape: Heads,
) {
    shape.check(y.len(), positions.len(), y.len());
    for pair @ Pair { a, b, .. } in shape.pairs() {
        (y[a], y[b]) = turned(y[a], y[b], looked_up(pair, positions, tables, shape));
    }
}

fn looked_up<W: Copy>(
    Pair { at, i, .. }: Pair,
    positions: &[i32],
    [cos, sin]: Tables<'_, W>,
    shape: Heads,
) -> [W; 2] {
    let place = positions[at] as usize * (shape.dim / 2) + i;
    [cos[place], sin[place]]
}
