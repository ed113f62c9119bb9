//! The vector kernel on all threads, whole positions each; of f64, which has no lanes here, the definition.
//!
//! Pairs depend on nothing but their position, so what comes out is what one thread gets, bit for bit.

use super::turns::Source;
use super::vector::on;
use super::{Heads, Tables, cached, plain};
use crate::{Cpu, Scalar};

/// Elements that are worth handing to another thread: each pair takes a power, a cosine and a sine, or looks them up.
const COMPUTED: usize = 1 << 9;
const LOOKED_UP: usize = 1 << 13;

/// Turns the pairs of `x` by position · base^(−2i/dim).
///
/// ```
/// use roofline_cpu::{Cpu, rope, rope::{Heads, Layout}};
///
/// let mut y = [0.0; 2];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope(&Cpu::new(2), &[1.0, 0.0], &[1], &mut y, shape, 10000.0);
/// assert_eq!(y, [1f64.cos(), 1f64.sin()]);
/// ```
pub fn rope<T: Scalar>(cpu: &Cpu, x: &[T], positions: &[i32], y: &mut [T], shape: Heads, base: f64) {
    if on(&cpu.pool, cpu, Some(x), positions, Source::Base(base), y, shape) {
        return;
    }
    cpu.pool.run_pieces(y, shape.heads * shape.dim, COMPUTED, |offset, y| {
        let (x, positions, shape) = shape.part(x, positions, offset, y.len());
        plain::rope(cpu, x, positions, y, shape, base);
    });
}

/// The same, each pair where it lies.
///
/// ```
/// use roofline_cpu::{Cpu, rope_in_place, rope::{Heads, Layout}};
///
/// let mut y = [1.0, 0.0];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope_in_place(&Cpu::serial(), &mut y, &[1], shape, 10000.0);
/// assert_eq!(y, [1f64.cos(), 1f64.sin()]);
/// ```
pub fn rope_in_place<T: Scalar>(cpu: &Cpu, y: &mut [T], positions: &[i32], shape: Heads, base: f64) {
    if on(&cpu.pool, cpu, None, positions, Source::Base(base), y, shape) {
        return;
    }
    cpu.pool.run_pieces(y, shape.heads * shape.dim, COMPUTED, |offset, y| {
        let (positions, shape) = shape.positions(positions, offset, y.len());
        plain::rope_in_place(cpu, y, positions, shape, base);
    });
}

/// Turns the pairs of `x` by the angles of the tables' row for each position.
///
/// ```
/// use roofline_cpu::{Cpu, rope_cached, rope::{Heads, Layout}};
///
/// let mut y = [0.0; 2];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope_cached(&Cpu::new(2), &[1.0, 0.0], &[1], [&[1.0, 0.0], &[0.0, 1.0]], &mut y, shape);
/// assert_eq!(y, [0.0, 1.0]);
/// ```
pub fn rope_cached<T: Scalar>(
    cpu: &Cpu,
    x: &[T],
    positions: &[i32],
    tables: Tables<'_, T::Wide>,
    y: &mut [T],
    shape: Heads,
) {
    if on(&cpu.pool, cpu, Some(x), positions, Source::Tables(tables), y, shape) {
        return;
    }
    cpu.pool.run_pieces(y, shape.heads * shape.dim, LOOKED_UP, |offset, y| {
        let (x, positions, shape) = shape.part(x, positions, offset, y.len());
        cached::rope_cached(cpu, x, positions, tables, y, shape);
    });
}

/// The same, each pair where it lies.
///
/// ```
/// use roofline_cpu::{Cpu, rope_cached_in_place, rope::{Heads, Layout}};
///
/// let mut y = [1.0, 0.0];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope_cached_in_place(&Cpu::serial(), &mut y, &[1], [&[1.0, 0.0], &[0.0, 1.0]], shape);
/// assert_eq!(y, [0.0, 1.0]);
/// ```
pub fn rope_cached_in_place<T: Scalar>(
    cpu: &Cpu,
    y: &mut [T],
    positions: &[i32],
    tables: Tables<'_, T::Wide>,
    shape: Heads,
) {
    if on(&cpu.pool, cpu, None, positions, Source::Tables(tables), y, shape) {
        return;
    }
    cpu.pool.run_pieces(y, shape.heads * shape.dim, LOOKED_UP, |offset, y| {
        let (positions, shape) = shape.positions(positions, offset, y.len());
        cached::rope_cached_in_place(cpu, y, positions, tables, shape);
    });
}

/// The same as the third, with angles of position · base^(−2i/dim) for positions that the tables have no row for.
///
/// ```
/// use roofline_cpu::{Cpu, rope_cached_beyond, rope::{Heads, Layout}};
///
/// let (mut y, x) = ([0.0; 4], [1.0, 0.0, 1.0, 0.0]);
/// let shape = Heads { seq: 2, heads: 1, dim: 2, layout: Layout::Half };
/// rope_cached_beyond(&Cpu::serial(), &x, &[1, 2], [&[1.0, 0.0], &[0.0, 1.0]], &mut y, shape, 10000.0);
/// assert_eq!(y, [0.0, 1.0, 2f64.cos(), 2f64.sin()]);
/// ```
pub fn rope_cached_beyond<T: Scalar>(
    cpu: &Cpu,
    x: &[T],
    positions: &[i32],
    tables: Tables<'_, T::Wide>,
    y: &mut [T],
    shape: Heads,
    base: f64,
) {
    if on(&cpu.pool, cpu, Some(x), positions, Source::Beyond(tables, base), y, shape) {
        return;
    }
    cpu.pool.run_pieces(y, shape.heads * shape.dim, LOOKED_UP, |offset, y| {
        let (x, positions, shape) = shape.part(x, positions, offset, y.len());
        cached::rope_cached_beyond(cpu, x, positions, tables, y, shape, base);
    });
}

impl Heads {
    /// The inputs and the shape of whole positions: so many elements from `offset`.
    fn part<'a, T>(
        self,
        x: &'a [T],
        positions: &'a [i32],
        offset: usize,
        length: usize,
    ) -> (&'a [T], &'a [i32], Heads) {
        let (positions, shape) = self.positions(positions, offset, length);
        (&x[offset..][..length], positions, shape)
    }

    fn positions(self, positions: &[i32], offset: usize, length: usize) -> (&[i32], Heads) {
        let of_position = (self.heads * self.dim).max(1);
        let (first, seq) = (offset / of_position, length / of_position);
        (&positions[first..][..seq], Heads { seq, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rope::{Layout, vector};
    use half::bf16;

    /// As many bits as types of another size have: whatever is not the same has other ones.
    fn bits<T: Scalar<Wide = f32>>(values: &[T]) -> Vec<u32> {
        values.iter().map(|value| value.wide().to_bits()).collect()
    }

    fn is_the_same<T: Scalar<Wide = f32>>() {
        let (serial, several) = (Cpu::serial(), Cpu::new(4));
        for (seq, heads, dim) in [(1, 1, 2), (3, 5, 6), (127, 3, 34), (33, 16, 64), (513, 2, 16)] {
            for layout in [Layout::Half, Layout::Interleaved] {
                let shape = Heads { seq, heads, dim, layout };
                let x = (0..seq * heads * dim).map(|i| T::narrow((i * 37 % 101) as f32 / 50.0 - 1.0));
                let x: Vec<T> = x.collect();
                let positions: Vec<i32> = (0..seq as i32).map(|at| (at * 7) % seq as i32).collect();
                let (mut one, mut all) = (vec![T::narrow(0.0); x.len()], vec![T::narrow(0.0); x.len()]);
                vector::rope(&serial, &x, &positions, &mut one, shape, 10000.0);
                rope(&several, &x, &positions, &mut all, shape, 10000.0);
                assert_eq!(bits(&one), bits(&all), "{shape:?}");
                all.copy_from_slice(&x);
                rope_in_place(&several, &mut all, &positions, shape, 10000.0);
                assert_eq!(bits(&one), bits(&all), "{shape:?} in place");
                let table = |of: fn(f32) -> f32| -> Vec<f32> {
                    (0..seq * dim / 2).map(|i| of(i as f32 / 9.0)).collect()
                };
                let (cos, sin) = (table(f32::cos), table(f32::sin));
                cached::rope_cached(&serial, &x, &positions, [&cos, &sin], &mut one, shape);
                rope_cached(&several, &x, &positions, [&cos, &sin], &mut all, shape);
                assert_eq!(bits(&one), bits(&all), "{shape:?} from tables");
                all.copy_from_slice(&x);
                rope_cached_in_place(&several, &mut all, &positions, [&cos, &sin], shape);
                assert_eq!(bits(&one), bits(&all), "{shape:?} from tables, in place");
            }
        }
    }

    #[test]
    fn several_threads_are_as_one_and_tables_as_the_definition_to_the_last_bit() {
        is_the_same::<f32>();
        is_the_same::<bf16>();
    }
}
