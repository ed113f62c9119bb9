//! A·Bᵀ: every element of C is the product of two rows.
//!
//! Several rows of B are walked at once. They are not neighbours: each is the next row of a part of B of its own, so
//! that every part is read from its first byte to its last, which is what a processor fetches ahead best.

use std::ops::Range;

use super::super::block::Block;
use super::super::factor::{Factor, Number};
use super::super::packing::load_end;
use crate::Vectorize;
use crate::lanes::Lanes;

/// Columns `cols` of C from rows of A that lie interleaved in `x`, packed as B is.
pub(super) struct Dots<'a, T: Factor, W: Factor<Total = T::Total>> {
    pub(super) x: &'a [T::Total],
    pub(super) b: &'a [W],
    pub(super) k: usize,
    pub(super) cols: Range<usize>,
    pub(super) c: Block<'a, T::Output>,
}

impl<T: Factor, W: Factor<Total = T::Total>> Vectorize for Dots<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        // As many sums as there are registers for: 32 of the widest vectors, 16 of others.
        if L::LANES == 16 {
            match self.c.rows() {
                1 => self.walk::<L, 1, 8>(lanes),
                2 => self.walk::<L, 2, 8>(lanes),
                3 => self.walk::<L, 3, 7>(lanes),
                4 => self.walk::<L, 4, 6>(lanes),
                5 => self.walk::<L, 5, 4>(lanes),
                6 => self.walk::<L, 6, 4>(lanes),
                7 => self.walk::<L, 7, 3>(lanes),
                _ => self.walk::<L, 8, 3>(lanes),
            }
        } else {
            match self.c.rows() {
                1 => self.walk::<L, 1, 8>(lanes),
                2 => self.walk::<L, 2, 4>(lanes),
                3 => self.walk::<L, 3, 3>(lanes),
                4 => self.walk::<L, 4, 2>(lanes),
                5 => self.walk::<L, 5, 2>(lanes),
                6 => self.walk::<L, 6, 2>(lanes),
                7 => self.walk::<L, 7, 1>(lanes),
                _ => self.walk::<L, 8, 1>(lanes),
            }
        }
    }
}

/// Bytes that each part is asked for ahead.
const AHEAD: usize = 1024;

impl<T: Factor, W: Factor<Total = T::Total>> Dots<'_, T, W> {
    /// `M` rows of A by `R` parts of B.
    #[inline(always)]
    fn walk<L: Lanes, const M: usize, const R: usize>(mut self, lanes: L) {
        let Dots { x, b, k, .. } = self;
        let length = self.cols.len();
        let part = length.div_ceil(R);
        let b = &b[self.cols.start * k..self.cols.end * k];
        let width = L::LANES * W::DEPTH;
        let whole = k / width;
        assert!(self.c.rows() == M && x.len() >= k.div_ceil(width) * M * L::LANES);
        let zero = T::Total::splat(lanes, T::Total::default());
        for row in 0..part {
            let mut rows = [b; R];
            for (stream, of_b) in rows.iter_mut().enumerate() {
                // Parts that are a row short take their last one twice.
                let row = (stream * part + row).min(length - 1);
                *of_b = &b[row * k..][..k];
            }
            let mut sums = [[zero; R]; M];
            let mut of_b = [zero; R];
            for step in 0..whole {
                for r in 0..R {
                    // SAFETY: whole · width <= k, the length of each row.
                    let from = unsafe { rows[r].get_unchecked(step * width..(step + 1) * width) };
                    lanes.prefetch(from.as_ptr().wrapping_byte_add(AHEAD));
                    of_b[r] = W::load(lanes, from);
                }
                // SAFETY: x holds M vectors for each of these steps, as asserted.
                let x = unsafe { x.get_unchecked(step * M * L::LANES..(step + 1) * M * L::LANES) };
                for i in 0..M {
                    let x = T::Total::load(lanes, &x[i * L::LANES..]);
                    for r in 0..R {
                        sums[i][r] = T::Total::multiply_add(lanes, x, of_b[r], sums[i][r]);
                    }
                }
            }
            if whole * width < k {
                let x = &x[whole * M * L::LANES..];
                for r in 0..R {
                    let of_b = load_end(lanes, &rows[r][whole * width..]);
                    for i in 0..M {
                        let x = T::Total::load(lanes, &x[i * L::LANES..]);
                        sums[i][r] = T::Total::multiply_add(lanes, x, of_b, sums[i][r]);
                    }
                }
            }
            for (i, sums) in sums.into_iter().enumerate() {
                let c = self.c.row(i);
                for (stream, sum) in sums.into_iter().enumerate() {
                    c[(stream * part + row).min(length - 1)] = T::round(T::Total::sum(lanes, sum));
                }
            }
        }
    }
}
