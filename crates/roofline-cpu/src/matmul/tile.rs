//! One tile of C from packed panels: the loops around the register tile.
//!
//! The innermost loop keeps `TILE_ROWS` rows of two vectors of C in registers
//! and adds one outer product per step: two loads and `TILE_ROWS` broadcasts
//! feed twice as many multiply-adds. Around it, a panel of B and the packed
//! block of A come from the second cache in time, because they are read front
//! to back and the next panel is asked for ahead; what costs is C, whose rows
//! lie on a page each, and so it is visited once in `STEPS` steps.

use std::ops::Range;

use super::block::Block;
use super::factor::{Factor, Number};
use super::packing::pack_rows;
use crate::Vectorize;
use crate::lanes::{Lanes, MAX_TILE_ROWS};
use crate::scratch::Scratch;

/// Steps of a sum between two visits to C, at most.
const STEPS: usize = 1024;
/// Rows of C in one tile, so that the packed block of A takes a quarter of a
/// second cache of 2 MiB, which the sibling of the core may be using too.
pub(super) const ROWS: usize = 8 * 14;
/// Columns of C in one tile.
pub(super) const COLS: usize = 1024;

/// A tile of C: rows `rows` of A times the columns packed in `panels`.
pub(super) struct MultiplyTile<'a, T: Factor> {
    pub(super) a: &'a [T],
    pub(super) k: usize,
    pub(super) rows: Range<usize>,
    /// Whole panels of B over the whole depth, one after the other.
    pub(super) panels: &'a [T::Total],
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
pub(crate) struct RegisterTile;

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
    panels: &[T::Total],
    mut sums: Block<'_, T::Total>,
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
                // A share of the next panel of B for each strip of A.
                let share = (steps * panel_width / LINE).div_ceil(strips);
                let next = panel.as_ptr().wrapping_add(all_steps * panel_width + index * share * LINE);
                let mut ahead = Ahead { targets: [next; 2 * MAX_TILE_ROWS], next };
                for (row, lines) in rows.clone().zip(ahead.targets.chunks_exact_mut(2)) {
                    let target = &sums.row(row)[from..to];
                    lines.copy_from_slice(&[target.as_ptr(), &raw const target[target.len() - 1]]);
                }
                let tile = outer_products::<L, T::Total>(lanes, strip, panel, &ahead);
                for (row, v) in rows.zip(tile.as_ref()) {
                    let target = &mut sums.row(row)[from..to];
                    let middle = target.len().min(L::LANES);
                    let (left, right) = target.split_at_mut(middle);
                    T::Total::put(lanes, v[0], first > 0, left);
                    T::Total::put(lanes, v[1], first > 0, right);
                }
            }
        }
    }
}

/// Numbers in a cache line.
const LINE: usize = 16;

/// Cache lines to ask for while a register tile is computed, one in each round:
/// all at once would fill the queue of misses and stall.
struct Ahead<N> {
    /// Where the tile will be stored.
    targets: [*const N; 2 * MAX_TILE_ROWS],
    /// From here on line by line.
    next: *const N,
}

impl<N> Ahead<N> {
    #[inline(always)]
    fn line(&self, round: usize) -> *const N {
        match self.targets.get(round) {
            Some(&target) => target,
            None => self.next.wrapping_add((round - self.targets.len()) * LINE),
        }
    }
}

/// Steps of a round: with one at a time the counting would cost an eighth of the instructions.
const ROUND: usize = 4;

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
    let mut a_rounds = a.chunks_exact(ROUND * L::TILE_ROWS);
    let mut b_rounds = b.chunks_exact(ROUND * 2 * L::LANES);
    for (round, (a, b)) in (&mut a_rounds).zip(&mut b_rounds).enumerate() {
        lanes.prefetch(ahead.line(round));
        for step in 0..ROUND {
            add_product(lanes, &a[step * L::TILE_ROWS..], &b[step * 2 * L::LANES..], &mut tile);
        }
    }
    let rest = a_rounds.remainder().chunks_exact(L::TILE_ROWS);
    for (a, b) in rest.zip(b_rounds.remainder().chunks_exact(2 * L::LANES)) {
        add_product(lanes, a, b, &mut tile);
    }
    tile
}

/// One step: the outer product of `TILE_ROWS` numbers of A and two vectors of B.
#[inline(always)]
fn add_product<L: Lanes, N: Number>(lanes: L, a: &[N], b: &[N], tile: &mut L::Tile<[N::Vector<L>; 2]>) {
    let left = N::load(lanes, b);
    let right = N::load(lanes, &b[L::LANES..]);
    for (sums, &a) in tile.as_mut().iter_mut().zip(a) {
        let a = N::splat(lanes, a);
        sums[0] = N::multiply_add(lanes, a, left, sums[0]);
        sums[1] = N::multiply_add(lanes, a, right, sums[1]);
    }
}
