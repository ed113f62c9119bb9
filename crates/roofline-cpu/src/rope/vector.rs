//! Angles once for each position, pairs turned in lanes, head after head.
//!
//! Products and sums are those of the definition, one by one: with the same cosines and sines the bits are the same.

use super::turns::Source;
use super::{Heads, Layout, Tables, cached, plain};
use crate::lanes::Lanes;
use crate::rowwise::{PIECE, at};
use crate::scalar::InLanes;
use crate::scratch::Scratch;
use crate::{Cpu, Element, Isa, Pool, Scalar, Vectorize};
use std::ops::Range;

/// Turns the pairs of `x` by position · base^(−2i/dim).
///
/// ```
/// use roofline_cpu::{Cpu, rope::{Heads, Layout, vector::rope}};
///
/// let mut y = [0.0_f32; 2];
/// let shape = Heads { seq: 1, heads: 1, dim: 2, layout: Layout::Half };
/// rope(&Cpu::serial(), &[1.0, 0.0], &[1], &mut y, shape, 10000.0);
/// assert_eq!(y, [1f64.cos() as f32, 1f64.sin() as f32]);
/// ```
pub fn rope<T: Scalar>(cpu: &Cpu, x: &[T], positions: &[i32], y: &mut [T], shape: Heads, base: f64) {
    if !on(Pool::alone(), cpu, Some(x), positions, Source::Base(base), y, shape) {
        plain::rope(cpu, x, positions, y, shape, base);
    }
}

/// The same, each pair where it lies.
pub fn rope_in_place<T: Scalar>(cpu: &Cpu, y: &mut [T], positions: &[i32], shape: Heads, base: f64) {
    if !on(Pool::alone(), cpu, None, positions, Source::Base(base), y, shape) {
        plain::rope_in_place(cpu, y, positions, shape, base);
    }
}

/// Turns the pairs of `x` by the angles of the tables' row for each position.
pub fn rope_cached<T: Scalar>(
    cpu: &Cpu,
    x: &[T],
    positions: &[i32],
    tables: Tables<'_, T::Wide>,
    y: &mut [T],
    shape: Heads,
) {
    if !on(Pool::alone(), cpu, Some(x), positions, Source::Tables(tables), y, shape) {
        cached::rope_cached(cpu, x, positions, tables, y, shape);
    }
}

/// The same, each pair where it lies.
pub fn rope_cached_in_place<T: Scalar>(
    cpu: &Cpu,
    y: &mut [T],
    positions: &[i32],
    tables: Tables<'_, T::Wide>,
    shape: Heads,
) {
    if !on(Pool::alone(), cpu, None, positions, Source::Tables(tables), y, shape) {
        cached::rope_cached_in_place(cpu, y, positions, tables, shape);
    }
}

/// The same as the third, with angles of position · base^(−2i/dim) for positions that the tables have no row for.
pub fn rope_cached_beyond<T: Scalar>(
    cpu: &Cpu,
    x: &[T],
    positions: &[i32],
    tables: Tables<'_, T::Wide>,
    y: &mut [T],
    shape: Heads,
    base: f64,
) {
    if !on(Pool::alone(), cpu, Some(x), positions, Source::Beyond(tables, base), y, shape) {
        cached::rope_cached_beyond(cpu, x, positions, tables, y, shape, base);
    }
}

/// On these threads, what `y` holds if there is no `x`; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: Option<&[T]>,
    positions: &[i32],
    source: Source<'_, T::Wide>,
    y: &mut [T],
    shape: Heads,
) -> bool {
    shape.check(x.map_or(y.len(), <[T]>::len), positions.len(), y.len());
    let streamed = x.is_some() && cpu.streams(2 * size_of_val(y));
    T::in_lanes(OnThreads { pool, isa: cpu.isa, x, positions, source, y, shape, streamed })
}

struct OnThreads<'a, T: Scalar> {
    pool: &'a Pool,
    isa: Isa,
    x: Option<&'a [T]>,
    positions: &'a [i32],
    source: Source<'a, T::Wide>,
    y: &'a mut [T],
    shape: Heads,
    streamed: bool,
}

impl<T: Scalar> InLanes<T> for OnThreads<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let OnThreads { pool, isa, x, positions, source, y, shape, streamed } = self;
        let mut frequencies = Scratch::take(shape.dim / 2);
        source.frequencies(&mut frequencies);
        let (frequencies, of_position) = (&*frequencies, (shape.heads * shape.dim).max(1));
        pool.run_pieces(y, of_position, PIECE, |offset, y| {
            let x = x.map(|x| &x[offset..][..y.len()]);
            let positions = &positions[offset / of_position..];
            isa.run(Turned { x, positions, source, frequencies, y, shape, streamed });
        });
    }
}

/// The heads of whole positions.
struct Turned<'a, T> {
    x: Option<&'a [T]>,
    positions: &'a [i32],
    source: Source<'a, f32>,
    frequencies: &'a [f64],
    y: &'a mut [T],
    shape: Heads,
    streamed: bool,
}

impl<T: Element> Vectorize for Turned<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Turned { x, positions, source, frequencies, y, shape: Heads { heads, dim, layout, .. }, .. } =
            self;
        let of_position = (heads * dim).max(1);
        let (mut cos, mut sin) = (Scratch::<f32>::take(dim), Scratch::<f32>::take(dim));
        let mut before = Scratch::<T>::take(dim);
        for (at, (y, position)) in y.chunks_mut(of_position).zip(positions).enumerate() {
            source.turns(*position, frequencies, [&mut cos[..dim / 2], &mut sin[..dim / 2]]);
            if layout == Layout::Interleaved {
                spread(&mut cos, &mut sin);
            }
            for (head, y) in y.chunks_mut(dim).enumerate() {
                let x = match x {
                    Some(x) => &x[at * of_position + head * dim..][..dim],
                    None => {
                        before.copy_from_slice(y);
                        &*before
                    }
                };
                match (layout, self.streamed) {
                    (Layout::Half, false) => halves::<L, T, false>(lanes, x, y, &cos, &sin),
                    (Layout::Half, true) => halves::<L, T, true>(lanes, x, y, &cos, &sin),
                    (Layout::Interleaved, false) => pairs::<L, T, false>(lanes, x, y, &cos, &sin),
                    (Layout::Interleaved, true) => pairs::<L, T, true>(lanes, x, y, &cos, &sin),
                }
            }
        }
        if self.streamed {
            lanes.fence();
        }
    }
}

/// The first half of them for both numbers of a pair: a sine is taken off at the first, and added at the second.
#[inline(always)]
fn spread(cos: &mut [f32], sin: &mut [f32]) {
    for i in (0..cos.len() / 2).rev() {
        (cos[2 * i], cos[2 * i + 1]) = (cos[i], cos[i]);
        (sin[2 * i], sin[2 * i + 1]) = (-sin[i], sin[i]);
    }
}

/// Pairs of the two halves of a head.
#[inline(always)]
fn halves<L: Lanes, T: Element, const STREAM: bool>(
    lanes: L,
    x: &[T],
    y: &mut [T],
    cos: &[f32],
    sin: &[f32],
) {
    let half = x.len() / 2;
    let ((a, b), (of_a, of_b)) = (x.split_at(half), y.split_at_mut(half));
    for from in (0..half).step_by(L::LANES) {
        let places = from..half.min(from + L::LANES);
        let [cos, sin] = [at(lanes, &cos[..half], places.clone()), at(lanes, &sin[..half], places.clone())];
        let [a, b] = [at(lanes, a, places.clone()), at(lanes, b, places.clone())];
        let first = lanes.sub(lanes.mul(a, cos), lanes.mul(b, sin));
        let second = lanes.add(lanes.mul(a, sin), lanes.mul(b, cos));
        put::<L, T, STREAM>(lanes, first, of_a, places.clone());
        put::<L, T, STREAM>(lanes, second, of_b, places);
    }
}

/// Pairs of neighbours.
#[inline(always)]
fn pairs<L: Lanes, T: Element, const STREAM: bool>(lanes: L, x: &[T], y: &mut [T], cos: &[f32], sin: &[f32]) {
    for from in (0..x.len()).step_by(L::LANES) {
        let places = from..x.len().min(from + L::LANES);
        let x = at(lanes, x, places.clone());
        let [cos, sin] = [at(lanes, cos, places.clone()), at(lanes, sin, places.clone())];
        let turned = lanes.add(lanes.mul(x, cos), lanes.mul(lanes.swap_pairs(x), sin));
        put::<L, T, STREAM>(lanes, turned, y, places);
    }
}

#[inline(always)]
fn put<L: Lanes, T: Element, const STREAM: bool>(lanes: L, v: L::F, y: &mut [T], places: Range<usize>) {
    let y = &mut y[places];
    if y.len() == L::LANES { T::put::<L, STREAM>(lanes, v, y) } else { T::store_partial(lanes, v, y) }
}
