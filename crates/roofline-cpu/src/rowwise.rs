//! Rows in lanes: a number of each, as reductions have it, or another row, as norms do.
//!
//! An operation says how one row is made ([`Number`], [`Line`]) from passes over it ([`sums`], [`largest`], [`write`]); loops over
//! rows, blocks and threads are here.

use crate::catalog::{Implementation, Kernel};
use crate::lanes::{Lanes, MAX_LANES};
use crate::reduce::pairwise;
use crate::scalar::InLanes;
use crate::{Cpu, Element, Isa, Pool, Rows, Scalar, Vectorize, stream};
use std::ops::Range;

/// The rung on one thread.
pub(crate) const fn vector(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "vector", "passes in lanes over each row, four partial results each", kernels)
        .vector()
}

/// The rung on all of them.
pub(crate) const fn parallel(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "parallel", "the vector kernel on whole rows, all threads", kernels)
        .vector()
        .parallel()
}

/// Partial results of a pass: the latency of one hides behind the others'.
const PARTS: usize = 4;
/// Elements that are worth handing to another thread.
pub(crate) const PIECE: usize = 1 << 13;

/// `M` numbers of `N` rows. `of` must be `#[inline(always)]`, as [`Vectorize::run`].
pub(crate) trait Number<const N: usize, const M: usize = 1>: Copy + Sync {
    fn of<L: Lanes, T: Element>(self, lanes: L, rows: [&[T]; N]) -> [f32; M];
}

/// A row made of another, as long. `write` must be `#[inline(always)]`, as [`Vectorize::run`].
pub(crate) trait Line<T>: Copy + Sync {
    fn write<L: Lanes>(self, lanes: L, x: &[T], y: &mut [T], streamed: bool)
    where
        T: Element;
}

/// y\[i\] = the number of row i of x, by the threads of a pool; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(crate) fn reduce<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    y: &mut [T],
    shape: Rows,
    number: impl Number<1>,
) -> bool {
    assert!([x.len(), y.len()] == [shape.len(), shape.rows], "lengths for {shape:?}");
    T::in_lanes(Reduce { pool, isa: cpu.isa, x, y, cols: shape.cols, number })
}

struct Reduce<'a, T, N> {
    pool: &'a Pool,
    isa: Isa,
    x: &'a [T],
    y: &'a mut [T],
    cols: usize,
    number: N,
}

impl<T: Scalar, N: Number<1>> InLanes<T> for Reduce<'_, T, N> {
    fn run(self)
    where
        T: Element,
    {
        let Reduce { pool, isa, x, y, cols, number } = self;
        pool.run_pieces(y, 1, PIECE / cols.max(1), |first, y| {
            isa.run(Numbers { x: &x[first * cols..], y, cols, number });
        });
    }
}

struct Numbers<'a, T, N> {
    x: &'a [T],
    y: &'a mut [T],
    cols: usize,
    number: N,
}

impl<T: Element, N: Number<1>> Vectorize for Numbers<'_, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (row, y) in self.y.iter_mut().enumerate() {
            let [number] = self.number.of(lanes, [&self.x[row * self.cols..][..self.cols]]);
            *y = T::narrow(number);
        }
    }
}

/// As many blocks whatever the number of threads: a number of all has the same bits on any.
pub(crate) const BLOCKS: usize = 64;

/// The numbers of each of the blocks of x, by the threads of a pool; `None` where the type has no lanes.
pub(crate) fn blocks<T: Scalar, const N: usize, const M: usize>(
    pool: &Pool,
    cpu: &Cpu,
    x: [&[T]; N],
    number: impl Number<N, M>,
) -> Option<[[f32; M]; BLOCKS]> {
    let mut y = [[0.0; M]; BLOCKS];
    T::in_lanes(Blocks { pool, isa: cpu.isa, x, y: &mut y, number }).then_some(y)
}

struct Blocks<'a, T, F, const N: usize, const M: usize> {
    pool: &'a Pool,
    isa: Isa,
    x: [&'a [T]; N],
    y: &'a mut [[f32; M]; BLOCKS],
    number: F,
}

impl<T: Scalar, F: Number<N, M>, const N: usize, const M: usize> InLanes<T> for Blocks<'_, T, F, N, M> {
    fn run(self)
    where
        T: Element,
    {
        let Blocks { pool, isa, x, y, number } = self;
        let all = x[0].len();
        let length = all.div_ceil(BLOCKS).next_multiple_of(PARTS * MAX_LANES);
        pool.run_pieces(y, 1, PIECE.div_ceil(length), |first, y| {
            for (block, y) in (first..).zip(y) {
                let places = all.min(block * length)..all.min((block + 1) * length);
                isa.run(OfBlock { x: x.map(|x| &x[places.clone()]), y, number });
            }
        });
    }
}

struct OfBlock<'a, T, F, const N: usize, const M: usize> {
    x: [&'a [T]; N],
    y: &'a mut [f32; M],
    number: F,
}

impl<T: Element, F: Number<N, M>, const N: usize, const M: usize> Vectorize for OfBlock<'_, T, F, N, M> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        *self.y = self.number.of(lanes, self.x);
    }
}

/// The sum over all blocks of what terms add up to in each, that of each half first; `None` where the type has no lanes.
pub(crate) fn total<T: Scalar, const N: usize>(
    pool: &Pool,
    cpu: &Cpu,
    x: [&[T]; N],
    terms: impl Terms<N, 1>,
) -> Option<f32> {
    let sums = blocks(pool, cpu, x, Summed(terms))?;
    Some(pairwise(0..BLOCKS, &|block| sums[block][0]))
}

/// What terms add up to.
#[derive(Clone, Copy)]
pub(crate) struct Summed<S>(pub(crate) S);

impl<S: Terms<N, 1>, const N: usize> Number<N> for Summed<S> {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, rows: [&[T]; N]) -> [f32; 1] {
        sums(lanes, rows, self.0)
    }
}

/// Each row of y from that of x, by the threads of a pool; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(crate) fn map<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    y: &mut [T],
    shape: Rows,
    line: impl Line<T>,
) -> bool {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    let streamed = cpu.streams(2 * size_of_val(x));
    T::in_lanes(Map { pool, isa: cpu.isa, x, y, cols: shape.cols, line, streamed })
}

struct Map<'a, T, F> {
    pool: &'a Pool,
    isa: Isa,
    x: &'a [T],
    y: &'a mut [T],
    cols: usize,
    line: F,
    streamed: bool,
}

impl<T: Scalar, F: Line<T>> InLanes<T> for Map<'_, T, F> {
    fn run(self)
    where
        T: Element,
    {
        let Map { pool, isa, x, y, cols, line, streamed } = self;
        pool.run_pieces(y, cols, PIECE, |offset, y| {
            let x = &x[offset..][..y.len()];
            isa.run(Written { x, y, cols, line, streamed });
        });
    }
}

struct Written<'a, T, F> {
    x: &'a [T],
    y: &'a mut [T],
    cols: usize,
    line: F,
    streamed: bool,
}

impl<T: Element, F: Line<T>> Vectorize for Written<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let cols = self.cols.max(1);
        for (x, y) in self.x.chunks(cols).zip(self.y.chunks_mut(cols)) {
            self.line.write(lanes, x, y, self.streamed);
        }
        if self.streamed {
            lanes.fence();
        }
    }
}

/// `M` sums, each with one more term, of the elements of `N` rows at one place. `add` must be `#[inline(always)]`, as [`Vectorize::run`]; a closure would
/// leave the function that has the vector features, and so passes are loops.
pub(crate) trait Terms<const N: usize, const M: usize>: Copy + Sync {
    fn add<L: Lanes>(self, lanes: L, sums: [L::F; M], x: [L::F; N]) -> [L::F; M];
}

/// An element itself.
#[derive(Clone, Copy)]
pub(crate) struct Itself;

impl Terms<1, 1> for Itself {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum]: [L::F; 1], [x]: [L::F; 1]) -> [L::F; 1] {
        [lanes.add(sum, x)]
    }
}

/// The product of two elements.
#[derive(Clone, Copy)]
pub(crate) struct Product;

impl Terms<2, 1> for Product {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum]: [L::F; 1], [x, y]: [L::F; 2]) -> [L::F; 1] {
        [lanes.mul_add(x, y, sum)]
    }
}

/// The sums of terms over all places.
#[inline(always)]
pub(crate) fn sums<L: Lanes, T: Element, const N: usize, const M: usize>(
    lanes: L,
    rows: [&[T]; N],
    terms: impl Terms<N, M>,
) -> [f32; M] {
    let length = rows[0].len();
    let block = PARTS * L::LANES;
    let whole = length - length % block;
    let mut parts = [[lanes.splat(0.0); M]; PARTS];
    for from in (0..whole).step_by(block) {
        for (i, part) in parts.iter_mut().enumerate() {
            let mut x = [lanes.splat(0.0); N];
            for (x, row) in x.iter_mut().zip(rows) {
                *x = T::load(lanes, &row[from + i * L::LANES..from + (i + 1) * L::LANES]);
            }
            *part = terms.add(lanes, *part, x);
        }
    }
    for from in (whole..length).step_by(L::LANES) {
        let to = length.min(from + L::LANES);
        let mut x = [lanes.splat(0.0); N];
        for (x, row) in x.iter_mut().zip(rows) {
            *x = at(lanes, row, from..to);
        }
        let alone = terms.add(lanes, [lanes.splat(0.0); M], x);
        for (sum, term) in parts[0].iter_mut().zip(alone) {
            *sum = lanes.add(*sum, first(lanes, term, to - from));
        }
    }
    let [a, b, c, d] = parts;
    let mut sums = [0.0; M];
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = lanes.sum(lanes.add(lanes.add(a[i], b[i]), lanes.add(c[i], d[i])));
    }
    sums
}

/// The first lanes, and zeros.
#[inline(always)]
fn first<L: Lanes>(lanes: L, v: L::F, count: usize) -> L::F {
    let mut whole = [0.0; MAX_LANES];
    lanes.store_f32(v, &mut whole);
    whole[count..].fill(0.0);
    lanes.load_f32(&whole)
}

/// The largest element that is not NaN, or -∞.
#[inline(always)]
pub(crate) fn largest<L: Lanes, T: Element>(lanes: L, row: &[T]) -> f32 {
    let lowest = T::narrow(f32::NEG_INFINITY);
    // `max` takes its second operand on NaN: NaN elements leave no trace here, and make sums NaN later.
    let mut most = [lanes.splat(f32::NEG_INFINITY); PARTS];
    let mut blocks = row.chunks_exact(PARTS * L::LANES);
    for block in &mut blocks {
        for (most, x) in most.iter_mut().zip(block.chunks_exact(L::LANES)) {
            *most = lanes.max(T::load(lanes, x), *most);
        }
    }
    for x in blocks.remainder().chunks(L::LANES) {
        most[0] = lanes.max(T::load_partial(lanes, x, lowest), most[0]);
    }
    let [a, b, c, d] = most;
    lanes.largest(lanes.max(lanes.max(a, b), lanes.max(c, d)))
}

/// What becomes of the elements of a row, whose places are known. `of` must be `#[inline(always)]`, as [`Vectorize::run`].
pub(crate) trait Places: Copy {
    fn of<L: Lanes>(self, lanes: L, x: L::F, places: Range<usize>) -> L::F;
}

/// y = f(x), place by place.
#[inline(always)]
pub(crate) fn write<L: Lanes, T: Element>(lanes: L, x: &[T], y: &mut [T], streamed: bool, f: impl Places) {
    if !streamed {
        return write_part::<L, T, false>(lanes, x, y, 0, f);
    }
    // Streaming stores need the start of a line.
    let head = stream::unaligned_head(y);
    let (y_head, y) = y.split_at_mut(head);
    write_part::<L, T, false>(lanes, &x[..head], y_head, 0, f);
    write_part::<L, T, true>(lanes, &x[head..], y, head, f);
}

#[inline(always)]
fn write_part<L: Lanes, T: Element, const STREAM: bool>(
    lanes: L,
    x: &[T],
    y: &mut [T],
    from: usize,
    f: impl Places,
) {
    let cols = from + x.len();
    let mut at = from;
    let mut x = x.chunks_exact(L::LANES);
    let mut y = y.chunks_exact_mut(L::LANES);
    for (x, y) in (&mut x).zip(&mut y) {
        // The next row comes from memory while this one is written.
        lanes.prefetch(x.as_ptr().wrapping_add(cols));
        T::put::<L, STREAM>(lanes, f.of(lanes, T::load(lanes, x), at..at + L::LANES), y);
        at += L::LANES;
    }
    let (x, y) = (x.remainder(), y.into_remainder());
    if !x.is_empty() {
        let v = f.of(lanes, T::load_partial(lanes, x, T::default()), at..at + x.len());
        T::store_partial(lanes, v, y);
    }
}

/// Elements of a row of weights at the places of a vector; 0 beyond them.
#[inline(always)]
pub(crate) fn at<L: Lanes, T: Element>(lanes: L, w: &[T], places: Range<usize>) -> L::F {
    let w = &w[places];
    if w.len() == L::LANES { T::load(lanes, w) } else { T::load_partial(lanes, w, T::default()) }
}
