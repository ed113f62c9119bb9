//! Many rows of X: a piece of W at a time is decoded into a panel, in the order of the register tile, and meets all rows.
//!
//! W travels as codes from memory and lies decoded in the second cache only; X is packed once, in strips as high as the
//! register tile.

use super::{Coded, RUN, SHARE, Scales, filled_up};
use crate::fp8_matmul::buffered::products;
use crate::lanes::{Lanes, MAX_LANES};
use crate::matmul::Factor;
use crate::matmul::block::Block;
use crate::matmul::packing::pack_rows;
use crate::matmul::tile::RegisterTile;
use crate::scratch::Scratch;
use crate::{Element, Isa, Pool, Product, Vectorize};

/// Packed numbers that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// Y = X·Wᵀ, by the threads of a pool. W was made for this shape.
pub(crate) fn multiply<T, W: Coded>(isa: Isa, pool: &Pool, x: &[T], w: W, y: &mut [T], shape: Product)
where
    T: Element + Factor<Total = f32>,
{
    let Product { m, n, k } = shape;
    assert!([x.len(), y.len()] == [m * k, m * n], "lengths of x and y for {shape:?}");
    if k == 0 {
        return y.fill(T::narrow(0.0));
    }
    let (strip, width) = isa.run(RegisterTile);
    let mut packed = Scratch::<f32>::take(m.next_multiple_of(strip) * k);
    pool.run_pieces(&mut packed, strip * k, PIECE, |offset, strips| {
        isa.run(Strips { x, m, k, first: offset / k, strips });
    });
    let (packed, y) = (&*packed, Block::new(y, m, n));
    pool.run(n.div_ceil(width), |panel| {
        let cols = panel * width..n.min((panel + 1) * width);
        // SAFETY: every task is run once, and the columns of two tasks do not overlap.
        let y = unsafe { y.part(0..m, cols.clone()) };
        isa.run(Panel { packed, w, k, first: cols.start, y });
    });
}

/// Rows of X from this one on, in strips.
struct Strips<'a, T> {
    x: &'a [T],
    m: usize,
    k: usize,
    first: usize,
    strips: &'a mut [f32],
}

impl<T: Factor<Total = f32>> Vectorize for Strips<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Strips { x, m, k, first, strips } = self;
        for (strip, packed) in strips.chunks_exact_mut(L::TILE_ROWS * k).enumerate() {
            let row = first + strip * L::TILE_ROWS;
            pack_rows(lanes, x, k, row..m.min(row + L::TILE_ROWS), 0..k, packed, L::TILE_ROWS);
        }
    }
}

/// All rows of Y in as many columns as the register tile has, from this one on.
struct Panel<'a, T, W> {
    packed: &'a [f32],
    w: W,
    k: usize,
    first: usize,
    y: Block<'a, T>,
}

impl<T: Element, W: Coded> Vectorize for Panel<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let (k, m, width) = (self.k, self.y.rows(), 2 * L::LANES);
        let mut decoded = Scratch::<f32>::take(RUN * width);
        let mut sums = Scratch::<f32>::take(m.next_multiple_of(L::TILE_ROWS) * width);
        sums.fill(0.0);
        for run in 0..k.div_ceil(RUN) {
            let steps = RUN.min(k - run * RUN);
            for half in 0..2 {
                self.decode(lanes, run, half * L::LANES, &mut decoded);
            }
            let strips = self.packed.chunks_exact(L::TILE_ROWS * k);
            for (x, sums) in strips.zip(sums.chunks_exact_mut(L::TILE_ROWS * width)) {
                let x = &x[run * RUN * L::TILE_ROWS..][..steps * L::TILE_ROWS];
                let tile = products(lanes, x, &decoded[..steps * width]);
                for (of_run, sums) in tile.as_ref().iter().flatten().zip(sums.chunks_exact_mut(L::LANES)) {
                    lanes.store_f32(lanes.add(lanes.load_f32(sums), *of_run), sums);
                }
            }
        }
        for (row, sums) in sums.chunks_exact(width).take(m).enumerate() {
            let y = self.y.row(row);
            for (sums, y) in sums.chunks_exact(L::LANES).zip(y.chunks_mut(L::LANES)) {
                T::store_partial(lanes, lanes.load_f32(sums), y);
            }
        }
    }
}

impl<T, W: Coded> Panel<'_, T, W> {
    /// A run of `LANES` columns from this one on, side by side for each step; beyond the last column it comes again, and is
    /// never stored.
    #[inline(always)]
    fn decode<L: Lanes>(&self, lanes: L, run: usize, column: usize, decoded: &mut [f32]) {
        let (width, last) = (2 * L::LANES, self.first + self.y.cols() - 1);
        let row = |lane: usize| (self.first + column + lane).min(last);
        let mut scales = [Scales::NONE; MAX_LANES];
        for (lane, scales) in scales[..L::LANES].iter_mut().enumerate() {
            self.w.scales(lanes, row(lane), run, scales);
        }
        let first = run * (RUN / W::PART);
        let parts = self.k.div_ceil(W::PART).min(first + RUN / W::PART) - first;
        for part in 0..parts {
            let mut codes = [[0; super::MOST_BYTES]; MAX_LANES];
            for (lane, codes) in codes[..L::LANES].iter_mut().enumerate() {
                let of_row = self.w.codes(row(lane), first + part);
                lanes.prefetch(of_row.as_ptr().wrapping_add(RUN / SHARE * W::BYTES));
                *codes = filled_up(of_row);
            }
            let panel = &mut decoded[part * W::PART * width..][..W::PART * width];
            for place in (0..W::PART).step_by(L::LANES) {
                let mut square = lanes.square(lanes.splat(0.0));
                for ((codes, scales), numbers) in codes.iter().zip(&scales).zip(square.as_mut()) {
                    *numbers = W::numbers(lanes, &codes[..W::BYTES], scales, part, place);
                }
                for (step, numbers) in lanes.transpose(square).as_ref().iter().enumerate() {
                    lanes.store_f32(*numbers, &mut panel[W::element(place + step) * width + column..]);
                }
            }
        }
    }
}
