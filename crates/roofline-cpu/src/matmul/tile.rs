//! One tile of C from packed panels: the loops around the register tile.
//!
//! The innermost loop keeps `TILE_ROWS` rows of two vectors of C in registers
//! and adds one outer product per step: two loads and `TILE_ROWS` broadcasts
//! feed twice as many multiply-adds. Around it, a panel of B (`STEPS` deep)
//! stays in the first cache while the panels of A pass by, and the packed
//! block of A stays in the second while the panels of B pass by.

use std::ops::Range;

use super::block::Block;
use super::factor::{Factor, Number};
use super::packing::pack_rows;
use crate::Vectorize;
use crate::lanes::Lanes;
use crate::scratch::Scratch;

/// Steps of a sum between two visits to C, at most: a panel of B of this depth
/// fills a first cache of 48 KiB, and what falls out of it comes from the second
/// in time, while fewer visits to C save more.
const STEPS: usize = 384;
/// Rows of C in one tile, so that the packed block of A fits a second cache.
pub(super) const ROWS: usize = 24 * 14;
/// Columns of C in one tile.
pub(super) const COLS: usize = 1024;

/// A tile of C: rows `rows` of A times the columns packed in `panels`.
pub(super) struct MultiplyTile<'a, T: Factor> {
    pub(super) a: &'a [T],
    pub(super) k: usize,
    pub(super) rows: Range<usize>,
    /// Whole panels of B over the whole depth, one after the other.
    pub(super) panels: &'a [T::Number],
    pub(super) c: Block<'a, T::Output>,
}

impl<T: Factor> Vectorize for MultiplyTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let MultiplyTile { a, k, rows, panels, c } = &mut self;
        if let Some(sums) = T::in_place(c) {
            return sum_tile(lanes, a, *k, rows.clone(), panels, sums);
        }
        let (height, width) = (c.rows(), c.cols());
        let mut sums = Scratch::take(height * width);
        sum_tile(lanes, a, *k, rows.clone(), panels, Block::new(&mut sums, height, width));
        for (row, sums) in sums.chunks_exact(width).enumerate() {
            T::round_row(lanes, sums, c.row(row));
        }
    }
}

/// The height of a strip of A and the width of a panel of B.
pub(super) struct RegisterTile;

impl Vectorize for RegisterTile {
    type Output = (usize, usize);
    #[inline(always)]
    fn run<L: Lanes>(self, _lanes: L) -> (usize, usize) {
        (L::TILE_ROWS, 2 * L::LANES)
    }
}

#[inline(always)]
fn sum_tile<L: Lanes, T: Factor>(
    lanes: L,
    a: &[T],
    k: usize,
    rows: Range<usize>,
    panels: &[T::Number],
    mut sums: Block<'_, T::Number>,
) {
    let panel_width = 2 * L::LANES;
    let all_steps = k.div_ceil(T::DEPTH);
    let strips = rows.len().div_ceil(L::TILE_ROWS);
    // Visits of one depth each: a short last one would cost as much as the others.
    let depth_steps = all_steps.div_ceil(all_steps.div_ceil(STEPS));
    let mut packed = Scratch::take(strips * L::TILE_ROWS * depth_steps);
    for first in (0..all_steps).step_by(depth_steps) {
        let steps = depth_steps.min(all_steps - first);
        let strip_length = steps * L::TILE_ROWS;
        let depth = first * T::DEPTH..k.min((first + steps) * T::DEPTH);
        let row_starts = rows.clone().step_by(L::TILE_ROWS);
        for (start, strip) in row_starts.zip(packed.chunks_exact_mut(strip_length)) {
            let end = rows.end.min(start + L::TILE_ROWS);
            pack_rows(lanes, a, k, start..end, depth.clone(), strip, L::TILE_ROWS);
        }
        for (index, panel) in panels.chunks_exact(all_steps * panel_width).enumerate() {
            let panel = &panel[first * panel_width..][..steps * panel_width];
            let from = index * panel_width;
            let to = sums.cols().min(from + panel_width);
            for (index, strip) in packed.chunks_exact(strip_length).take(strips).enumerate() {
                let rows = index * L::TILE_ROWS..sums.rows();
                let mut ahead = Ahead::new(panel);
                for row in rows.clone().take(L::TILE_ROWS) {
                    let target = &sums.row(row)[from..to];
                    ahead.push(target.as_ptr());
                    ahead.push(&raw const target[target.len() - 1]);
                }
                // A share of the next panel of B for each strip of A.
                let share = (steps * panel_width / LINE).div_ceil(strips);
                for line in (index * share..(index + 1) * share).take(32) {
                    let next = panel.as_ptr().wrapping_add(all_steps * panel_width);
                    ahead.push(next.wrapping_add(line * LINE));
                }
                let tile = outer_products::<L, T::Number>(lanes, strip, panel, &ahead);
                for (row, v) in rows.zip(tile.as_ref()) {
                    let target = &mut sums.row(row)[from..to];
                    let middle = target.len().min(L::LANES);
                    let (left, right) = target.split_at_mut(middle);
                    T::Number::put(lanes, v[0], first > 0, left);
                    T::Number::put(lanes, v[1], first > 0, right);
                }
            }
        }
    }
}

/// Numbers in a cache line.
const LINE: usize = 16;

/// Cache lines to ask for while a register tile is computed, one in each step:
/// all at once would fill the queue of misses and stall.
struct Ahead<N> {
    lines: [*const N; 64],
    count: usize,
}

impl<N> Ahead<N> {
    const LINES: usize = 64;

    #[inline(always)]
    fn new(any: &[N]) -> Self {
        Self { lines: [any.as_ptr(); 64], count: 0 }
    }

    #[inline(always)]
    fn push(&mut self, line: *const N) {
        self.lines[self.count % Self::LINES] = line;
        self.count += 1;
    }
}

/// The register tile: the sum over all steps of a column of A times a row of B.
#[inline(always)]
fn outer_products<L: Lanes, N: Number>(
    lanes: L,
    a: &[N],
    b: &[N],
    ahead: &Ahead<N>,
) -> L::Tile<[N::Vector<L>; 2]> {
    let zero = N::splat(lanes, N::default());
    let mut tile = lanes.tile([zero; 2]);
    let steps = a.chunks_exact(L::TILE_ROWS).zip(b.chunks_exact(2 * L::LANES));
    for (step, (a, b)) in steps.enumerate() {
        lanes.prefetch(ahead.lines[step % Ahead::<N>::LINES]);
        let left = N::load(lanes, b);
        let right = N::load(lanes, &b[L::LANES..]);
        for (sums, &a) in tile.as_mut().iter_mut().zip(a) {
            let a = N::splat(lanes, a);
            sums[0] = N::multiply_add(lanes, a, left, sums[0]);
            sums[1] = N::multiply_add(lanes, a, right, sums[1]);
        }
    }
    tile
}
