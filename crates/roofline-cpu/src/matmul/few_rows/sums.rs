//! A·B: rows of C as sums of rows of B.
//!
//! Eight rows of B are walked at once, so that the sums, which stay in the nearest cache, are read and written once
//! for eight of them.

use std::ops::Range;

use super::super::block::Block;
use super::super::factor::{Factor, Number};
use crate::lanes::{Lanes, MAX_LANES};
use crate::scratch::Scratch;
use crate::{Product, Vectorize};

/// Columns `cols` of C from rows of A that lie one after the other in `x`.
pub(super) struct Sums<'a, T: Factor> {
    pub(super) x: &'a [T::Total],
    pub(super) b: &'a [T],
    pub(super) shape: Product,
    pub(super) cols: Range<usize>,
    pub(super) c: Block<'a, T::Output>,
}

/// Sums that stay in the nearest cache beside the rows of B that pass by.
const KEPT: usize = 6 << 10;
/// Packed rows of B that are walked at once.
const STREAMS: usize = 8;

impl<T: Factor> Vectorize for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Sums { x, b, shape, cols: all, mut c } = self;
        let Product { m, n, k } = shape;
        let steps = k.div_ceil(T::DEPTH);
        let width = (KEPT / m / MAX_LANES * MAX_LANES).min(all.len().next_multiple_of(MAX_LANES));
        let mut sums = Scratch::take(m * width);
        for first in all.clone().step_by(width) {
            let cols = first..all.end.min(first + width);
            sums.fill(T::Total::default());
            let mut step = 0;
            while step < steps {
                let taken = if step + STREAMS <= steps { STREAMS } else { 1 };
                let part = Part {
                    x: &x[step..],
                    stride: steps.next_multiple_of(L::LANES),
                    b,
                    n,
                    cols: cols.clone(),
                };
                if taken == STREAMS {
                    part.add::<L, STREAMS>(lanes, step * T::DEPTH, &mut sums, width, m);
                } else {
                    part.add::<L, 1>(lanes, step * T::DEPTH, &mut sums, width, m);
                }
                step += taken;
            }
            for (i, sums) in sums.chunks_exact(width).enumerate() {
                let c = &mut c.row(i)[cols.start - all.start..][..cols.len()];
                T::round_row(lanes, &sums[..cols.len()], c);
            }
        }
    }
}

/// Rows of B times the numbers of A that they meet.
struct Part<'a, T: Factor> {
    /// From the first of these rows on; those of the next row of A lie `stride` further on.
    x: &'a [T::Total],
    stride: usize,
    b: &'a [T],
    n: usize,
    cols: Range<usize>,
}

impl<T: Factor> Part<'_, T> {
    /// Adds `P` packed rows of B, from row `first` on.
    #[inline(always)]
    fn add<L: Lanes, const P: usize>(
        self,
        lanes: L,
        first: usize,
        sums: &mut [T::Total],
        width: usize,
        m: usize,
    ) {
        let Part { x, stride, b, n, cols } = self;
        let length = cols.len();
        let none: &[T] = &[];
        // Where the last pair has one row, its second is not there.
        let mut rows = [[none; 2]; P];
        for (step, rows) in rows.iter_mut().enumerate() {
            for (depth, of_b) in rows.iter_mut().enumerate().take(T::DEPTH) {
                let row = first + step * T::DEPTH + depth;
                *of_b = b.get(row * n + cols.start..row * n + cols.end).unwrap_or(none);
            }
        }
        let whole = if rows[P - 1][T::DEPTH - 1].len() == length { length / L::LANES * L::LANES } else { 0 };
        let ahead = P * T::DEPTH * n;
        let mut of_b = [T::Total::splat(lanes, T::Total::default()); P];
        assert!(sums.len() >= m * width && width >= length.next_multiple_of(L::LANES));
        for at in (0..whole).step_by(L::LANES) {
            for p in 0..P {
                let [upper, lower] = rows[p];
                lanes.prefetch(upper.as_ptr().wrapping_add(at + ahead));
                // SAFETY: at + LANES <= whole <= length, that of every row that the type has.
                let from = unsafe { upper.get_unchecked(at..at + L::LANES) };
                let below = if T::DEPTH == 1 {
                    from
                } else {
                    lanes.prefetch(lower.as_ptr().wrapping_add(at + ahead));
                    // SAFETY: as above.
                    unsafe { lower.get_unchecked(at..at + L::LANES) }
                };
                of_b[p] = T::load_columns(lanes, from, below);
            }
            add_products(lanes, x, stride, of_b, &mut sums[at..], width, m);
        }
        for at in (whole..length).step_by(L::LANES) {
            for p in 0..P {
                let mut ends = [[T::default(); MAX_LANES]; 2];
                for (row, end) in rows[p].iter().zip(&mut ends) {
                    let row = row.get(at..).unwrap_or(none);
                    let row = &row[..row.len().min(L::LANES)];
                    end[..row.len()].copy_from_slice(row);
                }
                of_b[p] = T::load_columns(lanes, &ends[0], &ends[1]);
            }
            add_products(lanes, x, stride, of_b, &mut sums[at..], width, m);
        }
    }
}

/// Adds a vector of each of `P` rows to the sums of each row of A.
#[inline(always)]
fn add_products<L: Lanes, N: Number, const P: usize>(
    lanes: L,
    x: &[N],
    stride: usize,
    of_b: [N::Vector<L>; P],
    sums: &mut [N],
    width: usize,
    m: usize,
) {
    for i in 0..m {
        let x = &x[i * stride..][..P];
        let sums = &mut sums[i * width..][..L::LANES];
        let mut sum = N::load(lanes, sums);
        for p in 0..P {
            sum = N::multiply_add(lanes, N::splat(lanes, x[p]), of_b[p], sum);
        }
        N::put(lanes, sum, false, sums);
    }
}
