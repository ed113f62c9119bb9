//! A few rows of X: W is read once, as it lies, decoded in registers and written nowhere.
//!
//! As in [`few_rows`](crate::matmul::few_rows), several rows of W are walked at once, each the next of a part of W of its own.

use std::marker::PhantomData;
use std::ops::Range;

use super::{Coded, MOST_BYTES, RUN, Scales, filled_up};
use crate::lanes::Lanes;
use crate::matmul::block::Block;
use crate::scratch::Scratch;
use crate::{Element, Isa, Pool, Product, Vectorize};

/// Rows of X that share one pass over W.
pub(crate) const GROUP: usize = 8;
/// Columns of Y in a cache line of its smallest type: two threads write no line together.
pub(super) const UNIT: usize = 32;
/// Elements of W that are worth handing to another thread.
pub(super) const PIECE: usize = 1 << 14;

/// Y = X·Wᵀ, by the threads of a pool. W was made for this shape.
pub(crate) fn multiply<T: Element, W: Coded>(
    isa: Isa,
    pool: &Pool,
    x: &[T],
    w: W,
    y: &mut [T],
    shape: Product,
) {
    let Product { m, n, k } = shape;
    assert!([x.len(), y.len()] == [m * k, m * n], "lengths of x and y for {shape:?}");
    if k == 0 || n == 0 {
        return y.fill(T::narrow(0.0));
    }
    for (x, y) in x.chunks(GROUP * k).zip(y.chunks_mut(GROUP * n)) {
        let m = x.len() / k;
        let mut places = Scratch::take(m * k.next_multiple_of(W::PART));
        isa.run(Arrange::<T, W> { x, k, places: &mut places, weights: PhantomData });
        let (x, y) = (&*places, Block::new(y, m, n));
        pool.run_parts(n, UNIT, PIECE.div_ceil(k), |cols| {
            // SAFETY: parts do not overlap.
            let y = unsafe { y.part(0..m, cols.clone()) };
            isa.run(Dots { x, w, k, cols, y });
        });
    }
}

/// Rows of X in f32, each filled up with zeros to whole parts, in the order of places: a vector of each row in turn.
struct Arrange<'a, T, W> {
    x: &'a [T],
    k: usize,
    places: &'a mut [f32],
    /// Says the order.
    weights: PhantomData<W>,
}

impl<T: Element, W: Coded> Vectorize for Arrange<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Arrange { x, k, places, .. } = self;
        let m = x.len() / k;
        let mut wide = Scratch::<f32>::take(k.next_multiple_of(W::PART));
        for (row, x) in x.chunks_exact(k).enumerate() {
            wide[k..].fill(0.0);
            for (x, wide) in x.chunks(L::LANES).zip(wide.chunks_mut(L::LANES)) {
                lanes.store_f32(T::load_partial(lanes, x, T::default()), wide);
            }
            let vectors = places.chunks_exact_mut(L::LANES).skip(row).step_by(m);
            for (vector, places) in vectors.enumerate() {
                let (part, first) = (vector * L::LANES / W::PART, vector * L::LANES % W::PART);
                for (lane, place) in places.iter_mut().enumerate() {
                    *place = wide[part * W::PART + W::element(first + lane)];
                }
            }
        }
    }
}

/// Columns `cols` of Y from rows of X that lie arranged in `x`.
struct Dots<'a, T, W> {
    x: &'a [f32],
    w: W,
    k: usize,
    cols: Range<usize>,
    y: Block<'a, T>,
}

impl<T: Element, W: Coded> Vectorize for Dots<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        // As many sums as there are registers for beside what codes stand for.
        if L::LANES == 16 {
            match self.y.rows() {
                1 => self.walk::<L, 1, 8>(lanes),
                2 => self.walk::<L, 2, 6>(lanes),
                3 => self.walk::<L, 3, 4>(lanes),
                4 => self.walk::<L, 4, 4>(lanes),
                5 => self.walk::<L, 5, 3>(lanes),
                6 => self.walk::<L, 6, 3>(lanes),
                7 => self.walk::<L, 7, 2>(lanes),
                _ => self.walk::<L, 8, 2>(lanes),
            }
        } else {
            match self.y.rows() {
                1 => self.walk::<L, 1, 4>(lanes),
                2 => self.walk::<L, 2, 3>(lanes),
                3 => self.walk::<L, 3, 2>(lanes),
                4 => self.walk::<L, 4, 2>(lanes),
                5 => self.walk::<L, 5, 1>(lanes),
                6 => self.walk::<L, 6, 1>(lanes),
                7 => self.walk::<L, 7, 1>(lanes),
                _ => self.walk::<L, 8, 1>(lanes),
            }
        }
    }
}

/// Bytes that each row of W is asked for ahead.
pub(super) const AHEAD: usize = 1024;

impl<T: Element, W: Coded> Dots<'_, T, W> {
    /// `M` rows of X by `R` rows of W at a time.
    #[inline(always)]
    fn walk<L: Lanes, const M: usize, const R: usize>(mut self, lanes: L) {
        let Dots { x, w, k, .. } = self;
        let (first, length) = (self.cols.start, self.cols.len());
        let of_each = length.div_ceil(R);
        let (whole, parts) = (k / W::PART, k.div_ceil(W::PART));
        let of_part = M * W::PART;
        assert!(self.y.rows() == M && x.len() == parts * of_part);
        for row in 0..of_each {
            let mut rows = [0; R];
            for (stream, of_w) in rows.iter_mut().enumerate() {
                // Streams that are a row short take their last one twice.
                *of_w = first + (stream * of_each + row).min(length - 1);
            }
            let mut sums = [[lanes.splat(0.0); R]; M];
            let mut scales = [Scales::NONE; R];
            for part in 0..parts {
                let in_run = part % (RUN / W::PART);
                if in_run == 0 {
                    for r in 0..R {
                        w.scales(lanes, rows[r], part * W::PART / RUN, &mut scales[r]);
                    }
                }
                let mut codes: [&[i8]; R] = [&[]; R];
                for r in 0..R {
                    codes[r] = w.codes(rows[r], part);
                    lanes.prefetch(codes[r].as_ptr().wrapping_add(AHEAD));
                }
                let x = &x[part * of_part..][..of_part];
                if part < whole {
                    Self::add::<L, M, R>(lanes, x, codes, &scales, in_run, &mut sums);
                } else {
                    let mut ends = [[0; MOST_BYTES]; R];
                    for r in 0..R {
                        ends[r] = filled_up(codes[r]);
                    }
                    let ends = ends.each_ref().map(|end| &end[..]);
                    Self::add::<L, M, R>(lanes, x, ends, &scales, in_run, &mut sums);
                }
            }
            for (i, sums) in sums.into_iter().enumerate() {
                let y = self.y.row(i);
                for (stream, sum) in sums.into_iter().enumerate() {
                    y[(stream * of_each + row).min(length - 1)] = T::narrow(lanes.sum(sum));
                }
            }
        }
    }
    /// Adds the products of a part, of this index in its run.
    #[inline(always)]
    fn add<L: Lanes, const M: usize, const R: usize>(
        lanes: L,
        x: &[f32],
        mut codes: [&[i8]; R],
        scales: &[Scales; R],
        part: usize,
        sums: &mut [[L::F; R]; M],
    ) {
        for codes in &mut codes {
            *codes = &codes[..W::BYTES];
        }
        for place in (0..W::PART).step_by(L::LANES) {
            let mut numbers = [lanes.splat(0.0); R];
            for r in 0..R {
                numbers[r] = W::numbers(lanes, codes[r], &scales[r], part, place);
            }
            for i in 0..M {
                let x = lanes.load_f32(&x[place * M + i * L::LANES..]);
                for r in 0..R {
                    sums[i][r] = lanes.mul_add(x, numbers[r], sums[i][r]);
                }
            }
        }
    }
}
