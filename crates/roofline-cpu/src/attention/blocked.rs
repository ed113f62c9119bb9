//! Blocks of queries and keys, in lanes.
//!
//! Over the definition: a number of a key or value meets two vectors of queries, in a register tile as that of a matrix
//! product, where the sums stay in registers; and exponentials are those of whole vectors. Of each block the products
//! never leave the nearest cache. All is f32 once it is packed.

use super::blocks::{KEYS, Method, Products, ask, attend, share, turn};
use super::problem::{Part, Problem};
use super::tile::{height, product, with_height};
use super::{Heads, Rule};
use crate::lanes::Lanes;
use crate::scratch::Scratch;
use crate::{Cpu, Element, Pieces, Vectorize};
use std::marker::PhantomData;
use std::ops::Range;

/// The values of `v` weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given.
///
/// ```
/// use roofline_cpu::{Cpu, attention::{Heads, Rule, blocked::attention}};
///
/// // The first query sees the first key alone; the second is as near to both.
/// let (q, k, v) = ([5.0f32, 1.0], [1.0, 1.0], [3.0, 4.0]);
/// let mut y = [0.0; 2];
/// attention(&Cpu::new(2), [&q, &k, &v], &mut y, Heads::new(2, 1, 1), Rule::Causal, None);
/// assert_eq!(y, [3.0, 3.5]);
/// ```
pub fn attention<T: Element>(
    cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    rule: Rule<'_, T>,
    scale: Option<f64>,
) {
    shape.check(qkv, y, &rule);
    share(cpu, &Problem::new(qkv, shape, rule, scale), y, &InLanes);
}

/// By register tiles.
pub(super) struct InLanes;

impl<T: Element> Method<T> for InLanes {
    fn attend(&self, cpu: &Cpu, problem: &Problem<'_, T>, part: &Part, y: &Pieces<'_, T>) {
        cpu.isa.run(OnLevel { problem, part, y });
    }
}

/// A part, on any level.
struct OnLevel<'a, 'y, T> {
    problem: &'a Problem<'a, T>,
    part: &'a Part,
    y: &'a Pieces<'y, T>,
}

impl<T: Element> Vectorize for OnLevel<'_, '_, T> {
    type Output = bool;
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> bool {
        let by = Packed::<L>::new(self.problem.shape.dim, self.part.rows.len());
        attend(lanes, by, self.problem, self.part, self.y)
    }
}

/// Queries, and a block of keys and values, in the order in which tiles read them.
pub(super) struct Packed<L> {
    dim: usize,
    /// Numbers of a value in a tile.
    tall: usize,
    queries: Scratch<f32>,
    keys: Scratch<f32>,
    values: Scratch<f32>,
    /// Keys in the block, whole strips.
    count: usize,
    lanes: PhantomData<L>,
}

impl<L: Lanes> Packed<L> {
    /// Room for rows of this length.
    fn new(dim: usize, rows: usize) -> Packed<L> {
        let panels = rows.div_ceil(2 * L::LANES);
        let tall = height::<L>(dim);
        // The last vector of keys and values may be too wide.
        let keys = KEYS.next_multiple_of(L::TILE_ROWS);
        Packed {
            dim,
            tall,
            queries: Scratch::take(panels * dim * 2 * L::LANES),
            keys: Scratch::take(keys * dim + L::LANES),
            values: Scratch::take(keys * dim.next_multiple_of(tall) + L::LANES),
            count: 0,
            lanes: PhantomData,
        }
    }
}

impl<L: Lanes, T: Element> Products<L, T> for Packed<L> {
    #[inline(always)]
    fn piece(&self, keys: usize) -> usize {
        keys
    }

    #[inline(always)]
    fn mean_piece(&self) -> usize {
        self.tall
    }

    #[inline(always)]
    fn mean_rows(&self) -> usize {
        self.dim.next_multiple_of(self.tall)
    }

    #[inline(always)]
    fn unit(&self) -> usize {
        L::TILE_ROWS
    }

    #[inline(always)]
    fn pack_queries(&mut self, lanes: L, panel: usize, queries: &[&[T]]) {
        let length = self.dim * L::LANES;
        let panel = &mut self.queries[panel * 2 * length..][..2 * length];
        for (half, packed) in panel.chunks_exact_mut(length).enumerate() {
            let queries = queries.iter().copied().skip(half * L::LANES).take(L::LANES);
            if queries.len() == 0 {
                packed.fill(0.0);
            }
            turn(lanes, queries, L::LANES, packed);
        }
    }

    #[inline(always)]
    fn pack_keys(&mut self, lanes: L, [k, v]: [&[T]; 2], first: usize, step: usize, count: usize) {
        let (dim, tall) = (self.dim, self.tall);
        self.count = count.next_multiple_of(L::TILE_ROWS);
        for from in (0..count).step_by(L::TILE_ROWS) {
            // Rows of several heads lie apart, and the processor does not see where they go.
            for key in from..from + L::TILE_ROWS {
                ask(lanes, k.as_ptr().wrapping_add(first + (key + L::TILE_ROWS) * step), dim);
                ask(lanes, v.as_ptr().wrapping_add(first + key * step), dim);
            }
            let keys = (from..count.min(from + L::TILE_ROWS)).map(|key| &k[first + key * step..][..dim]);
            turn(lanes, keys, L::TILE_ROWS, &mut self.keys[from * dim..]);
        }
        for (strip, from) in (0..dim).step_by(tall).enumerate() {
            let packed = &mut self.values[strip * self.count * tall..];
            // The next vector overwrites what is too much of one, and the next strip what is too much of the last.
            if from + L::LANES <= dim {
                for key in 0..count {
                    let value = T::load(lanes, &v[first + key * step + from..]);
                    lanes.store_f32(value, &mut packed[key * tall..]);
                }
            } else {
                for key in 0..count {
                    let value = &v[first + key * step..][from..dim];
                    let value = T::load_partial(lanes, value, T::default());
                    lanes.store_f32(value, &mut packed[key * tall..]);
                }
            }
            for key in count..self.count {
                lanes.store_f32(lanes.splat(0.0), &mut packed[key * tall..]);
            }
        }
    }

    #[inline(always)]
    fn multiply(&mut self, lanes: L, panel: usize, keys: Range<usize>, products: &mut [f32]) {
        let rows = L::TILE_ROWS;
        let queries = &self.queries[panel * self.dim * 2 * L::LANES..][..self.dim * 2 * L::LANES];
        let keys = &self.keys[keys.start * self.dim..keys.end * self.dim];
        with_height!(rows, multiply::<L>(lanes, keys, queries, self.dim, products));
    }

    #[inline(always)]
    fn add(&mut self, lanes: L, keys: Range<usize>, powers: &[f32], factors: [L::F; 2], means: &mut [f32]) {
        let values = &self.values[..self.count * self.dim.next_multiple_of(self.tall)];
        with_height!(self.tall, add::<L>(lanes, values, self.count, keys, powers, factors, means));
    }
}

/// Products of strips of keys with a panel of queries.
#[inline(always)]
fn multiply<L: Lanes, const R: usize>(
    lanes: L,
    keys: &[f32],
    queries: &[f32],
    dim: usize,
    products: &mut [f32],
) {
    let (left, right) = products.split_at_mut(products.len() / 2);
    for (index, strip) in keys.chunks_exact(dim * R).enumerate() {
        let sums = product::<L, R>(lanes, strip, queries);
        let tile = index * R * L::LANES..(index + 1) * R * L::LANES;
        let (left, right) = (&mut left[tile.clone()], &mut right[tile]);
        for (row, sums) in sums.iter().enumerate() {
            lanes.store_f32(sums[0], &mut left[row * L::LANES..]);
            lanes.store_f32(sums[1], &mut right[row * L::LANES..]);
        }
    }
}

/// Adds powers times values to means, which count for less by factors.
#[inline(always)]
fn add<L: Lanes, const R: usize>(
    lanes: L,
    values: &[f32],
    count: usize,
    keys: Range<usize>,
    powers: &[f32],
    factors: [L::F; 2],
    means: &mut [f32],
) {
    let tiles = means.chunks_exact_mut(2 * R * L::LANES);
    for (strip, tile) in values.chunks_exact(count * R).zip(tiles) {
        let strip = &strip[keys.start * R..keys.end * R];
        let sums = product::<L, R>(lanes, strip, powers);
        for (row, sums) in sums.iter().enumerate() {
            for (half, sum) in sums.iter().enumerate() {
                let mean = &mut tile[(half * R + row) * L::LANES..];
                let all = lanes.mul_add(lanes.load_f32(mean), factors[half], *sum);
                lanes.store_f32(all, mean);
            }
        }
    }
}
