//! Columns in lanes: a number of each, as reductions have it, or another column, as softmax does; of one matrix
//! after the other, so that they are the middle dimension of three.
//!
//! Columns are cut into strips that stay in a near cache from one pass to the next. A pass goes down the rows of a
//! strip as they lie in memory, a vector of columns at a time, and keeps what it knows of each column in a row of f32.
//! An operation says what it does with a strip ([`Columns`]) in passes ([`fold`], [`write`]); loops and threads are here.

use crate::Pieces;
use crate::catalog::{Implementation, Kernel};
use crate::lanes::{Lanes, MAX_LANES};
use crate::math::exp;
use crate::reduce::Line;
use crate::rowwise::{PIECE, at};
use crate::scalar::InLanes;
use crate::scratch::Scratch;
use crate::{Cpu, Element, Isa, Pool, Rows, Scalar, Vectorize, stream};
use std::ops::Range;

/// The rung on one thread.
pub(crate) const fn vector(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "vector", "strips of columns in lanes, four rows at a time", kernels).vector()
}

/// The rung on all of them.
pub(crate) const fn parallel(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "parallel", "the vector kernel, strips dealt to all threads", kernels)
        .vector()
        .parallel()
}

/// What becomes of a strip of columns. `write` must be `#[inline(always)]`, as [`Vectorize::run`].
pub(crate) trait Columns<T>: Copy + Sync {
    /// Whether it goes over a strip more than once.
    const RETURNS: bool;

    fn write<L: Lanes>(self, lanes: L, x: Strip<'_, T>, y: StripMut<'_, T>)
    where
        T: Element;
}

/// A number of each column of x\[outer, length, inner\], by the threads of a pool; false, and nothing done, where the type
/// has no lanes.
#[track_caller]
pub(crate) fn reduce<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    y: &mut [T],
    shape @ [outer, length, inner]: [usize; 3],
    columns: impl Columns<T>,
) -> bool {
    assert!([x.len(), y.len()] == [outer * length * inner, outer * inner], "lengths for {shape:?}");
    T::in_lanes(Strips { pool, isa: cpu.isa, x, y, shape, rows: 1, columns })
}

/// Each column of y from that of x, likewise.
#[track_caller]
pub(crate) fn map<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    y: &mut [T],
    shape @ [outer, length, inner]: [usize; 3],
    columns: impl Columns<T>,
) -> bool {
    assert!([x.len(), y.len()] == [outer * length * inner; 2], "lengths for {shape:?}");
    T::in_lanes(Strips { pool, isa: cpu.isa, x, y, shape, rows: length, columns })
}

/// One matrix.
pub(crate) fn one(shape: Rows) -> [usize; 3] {
    [1, shape.rows, shape.cols]
}

struct Strips<'a, T, C> {
    pool: &'a Pool,
    isa: Isa,
    x: &'a [T],
    y: &'a mut [T],
    shape: [usize; 3],
    /// Of each matrix of y.
    rows: usize,
    columns: C,
}

/// Bytes of a strip that stay in a near cache.
const NEAR: usize = 1 << 19;
/// Columns whose numbers stay in the nearest.
const NEAREST: usize = 2048;

impl<T: Scalar, C: Columns<T>> InLanes<T> for Strips<'_, T, C> {
    fn run(self)
    where
        T: Element,
    {
        let Strips { pool, isa, x, y, shape: [outer, length, inner], rows, columns } = self;
        if outer * inner == 0 {
            return;
        }
        // Whole lines, and no fewer than follow each other without a page between them.
        let line = stream::line::<T>();
        let near = if C::RETURNS { NEAR / (length * size_of::<T>()).max(1) } else { NEAREST };
        let wanted = if pool.threads() == 1 { 1 } else { (4 * pool.threads()).div_ceil(outer) };
        let width = near.clamp(4 * line, NEAREST).min(inner.div_ceil(wanted)).next_multiple_of(line);
        let of_matrix = inner.div_ceil(width);
        let (all, each) = (outer * of_matrix, (PIECE / (width.min(inner) * length).max(1)).max(1));
        let y = Pieces::new(y, 1);
        pool.run(all.div_ceil(each), |task| {
            let strips = task * each..all.min((task + 1) * each);
            isa.run(Part { x, y: &y, length, inner, rows, width, of_matrix, strips, columns });
        });
    }
}

/// Strips that follow each other.
struct Part<'a, T, C> {
    x: &'a [T],
    y: &'a Pieces<'a, T>,
    length: usize,
    inner: usize,
    rows: usize,
    width: usize,
    of_matrix: usize,
    strips: Range<usize>,
    columns: C,
}

impl<T: Element, C: Columns<T>> Vectorize for Part<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Part { x, y, length, inner, rows, width, of_matrix, strips, columns } = self;
        for strip in strips {
            let (matrix, from) = (strip / of_matrix, strip % of_matrix * width);
            let width = width.min(inner - from);
            let x = &x[matrix * length * inner..][..length * inner];
            let x = Strip { x: x.get(from..).unwrap_or_default(), length, step: inner, width };
            let y = StripMut { y, first: matrix * rows * inner + from, step: inner, width };
            columns.write(lanes, x, y);
        }
    }
}

/// Columns of a matrix that are neighbours.
#[derive(Clone, Copy)]
pub(crate) struct Strip<'a, T> {
    /// From the first of them on.
    x: &'a [T],
    length: usize,
    step: usize,
    width: usize,
}

impl<'a, T: Scalar> Strip<'a, T> {
    /// How many there are.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// One of them alone.
    pub(crate) fn column(self, index: usize) -> Line<'a, T> {
        Line::column(self.x, Rows { rows: self.length, cols: self.step }, index)
    }

    #[inline(always)]
    fn row(self, index: usize) -> &'a [T] {
        &self.x[index * self.step..][..self.width]
    }
}

/// The same of y, while other threads have its other columns.
pub(crate) struct StripMut<'a, T> {
    y: &'a Pieces<'a, T>,
    first: usize,
    step: usize,
    width: usize,
}

impl<T> StripMut<'_, T> {
    #[inline(always)]
    pub(crate) fn row(&mut self, index: usize) -> &mut [T] {
        let from = self.first + index * self.step;
        // SAFETY: strips do not overlap, each is made once, and a row of it is borrowed from the strip.
        unsafe { self.y.range(from..from + self.width) }
    }
}

/// A row of f32 for so many columns and as many more as make whole vectors.
pub(crate) fn numbers(width: usize, value: f32) -> Scratch<f32> {
    let mut numbers = Scratch::take(width.next_multiple_of(MAX_LANES));
    numbers.fill(value);
    numbers
}

/// What is known of the columns from `place` on, and one more element of each. `of` must be `#[inline(always)]`.
pub(crate) trait Step: Copy {
    fn of<L: Lanes>(self, lanes: L, known: L::F, x: L::F, place: usize) -> L::F;
}

/// Rows of a strip that are read side by side.
const ROWS: usize = 4;

/// Takes every element of a strip into what is known of its column.
#[inline(always)]
pub(crate) fn fold<L: Lanes, T: Element>(lanes: L, x: Strip<'_, T>, known: &mut [f32], step: impl Step) {
    let whole = x.length - x.length % ROWS;
    for i in (0..whole).step_by(ROWS) {
        fold_rows(lanes, [x.row(i), x.row(i + 1), x.row(i + 2), x.row(i + 3)], known, step);
    }
    for i in whole..x.length {
        fold_rows(lanes, [x.row(i)], known, step);
    }
}

#[inline(always)]
fn fold_rows<L: Lanes, T: Element, const N: usize>(
    lanes: L,
    rows: [&[T]; N],
    known: &mut [f32],
    step: impl Step,
) {
    let width = rows[0].len();
    for place in (0..width).step_by(L::LANES) {
        let places = place..width.min(place + L::LANES);
        let known = &mut known[place..place + L::LANES];
        let mut v = lanes.load_f32(known);
        for row in rows {
            v = step.of(lanes, v, at(lanes, row, places.clone()), place);
        }
        lanes.store_f32(v, known);
    }
}

/// y = f(x) for every element, f knowing its column. `of` must be `#[inline(always)]`.
pub(crate) trait Finish: Copy {
    fn of<L: Lanes>(self, lanes: L, x: L::F, place: usize) -> L::F;
}

/// Writes every element of a strip.
#[inline(always)]
pub(crate) fn write<L: Lanes, T: Element>(
    lanes: L,
    x: Strip<'_, T>,
    mut y: StripMut<'_, T>,
    finish: impl Finish,
) {
    for i in 0..x.length {
        let (x, y) = (x.row(i), y.row(i));
        let mut x = x.chunks_exact(L::LANES);
        let mut y = y.chunks_exact_mut(L::LANES);
        let mut place = 0;
        for (x, y) in (&mut x).zip(&mut y) {
            T::store(lanes, finish.of(lanes, T::load(lanes, x), place), y);
            place += L::LANES;
        }
        let (x, y) = (x.remainder(), y.into_remainder());
        if !x.is_empty() {
            let v = finish.of(lanes, T::load_partial(lanes, x, T::default()), place);
            T::store_partial(lanes, v, y);
        }
    }
}

/// The largest element of each column that is not NaN, and the sum of exponentials around it.
#[inline(always)]
pub(crate) fn exponentials<L: Lanes, T: Element>(lanes: L, x: Strip<'_, T>) -> [Scratch<f32>; 2] {
    let mut most = numbers(x.width, f32::NEG_INFINITY);
    fold(lanes, x, &mut most, Larger);
    let mut sums = numbers(x.width, 0.0);
    fold(lanes, x, &mut sums, Exponential { most: &most });
    [most, sums]
}

/// The larger of the two; an element that is NaN leaves no trace.
#[derive(Clone, Copy)]
struct Larger;

impl Step for Larger {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, known: L::F, x: L::F, _: usize) -> L::F {
        lanes.max(x, known)
    }
}

/// One exponential more.
#[derive(Clone, Copy)]
struct Exponential<'a> {
    most: &'a [f32],
}

impl Step for Exponential<'_> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, known: L::F, x: L::F, place: usize) -> L::F {
        let most = lanes.load_f32(&self.most[place..]);
        lanes.add(known, exp(lanes, lanes.sub(x, most)))
    }
}
