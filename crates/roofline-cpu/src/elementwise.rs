//! The loops of elementwise kernels: plain ones, and over lanes.

use crate::lanes::Lanes;
use crate::scalar::InLanes;
use crate::{Cpu, Element, Isa, Pool, Rows, Scalar, Vectorize, stream};

/// y = f(x).
#[track_caller]
pub(crate) fn map<T: Scalar>(x: &[T], y: &mut [T], shape: Rows, f: impl Fn(T::Wide) -> T::Wide) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    for (x, y) in x.iter().zip(y) {
        *y = T::narrow(f(x.wide()));
    }
}

/// z = f(x, y).
#[track_caller]
pub(crate) fn zip<T: Scalar>(
    x: &[T],
    y: &[T],
    z: &mut [T],
    shape: Rows,
    f: impl Fn(T::Wide, T::Wide) -> T::Wide,
) {
    assert!([x.len(), y.len(), z.len()] == [shape.len(); 3], "lengths for {shape:?}");
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        *z = T::narrow(f(x.wide(), y.wide()));
    }
}

/// What the vector rungs do.
pub(crate) const VECTOR: &str = "four lines at a time, large outputs streamed past the caches";
/// What the parallel rungs do.
pub(crate) const PARALLEL: &str = "the vector loop on all threads, each on a part of its own";

/// A formula of `N` numbers, a vector of each at a time. `of` must be `#[inline(always)]`, as [`Vectorize::run`].
pub trait Formula<const N: usize>: Copy + Sync {
    /// What it makes of them.
    fn of<L: Lanes>(self, lanes: L, x: [L::F; N]) -> L::F;
}

/// y = f(x, …) over lanes, on one thread; false, and nothing done, where the type has none.
#[track_caller]
pub(crate) fn map_lanes<T: Scalar, const N: usize>(
    cpu: &Cpu,
    x: [&[T]; N],
    y: &mut [T],
    shape: Rows,
    formula: impl Formula<N>,
) -> bool {
    map_on(Pool::alone(), cpu, x, y, shape, formula)
}

/// The same on all threads, each on a part that is its own in every call.
#[track_caller]
pub(crate) fn map_parallel<T: Scalar, const N: usize>(
    cpu: &Cpu,
    x: [&[T]; N],
    y: &mut [T],
    shape: Rows,
    formula: impl Formula<N>,
) -> bool {
    map_on(&cpu.pool, cpu, x, y, shape, formula)
}

#[track_caller]
fn map_on<T: Scalar, const N: usize>(
    pool: &Pool,
    cpu: &Cpu,
    x: [&[T]; N],
    y: &mut [T],
    shape: Rows,
    formula: impl Formula<N>,
) -> bool {
    assert!(x.iter().all(|x| x.len() == shape.len()) && y.len() == shape.len(), "lengths for {shape:?}");
    let streamed = cpu.streams((N + 1) * size_of_val(y));
    T::in_lanes(OnThreads { pool, isa: cpu.isa, x, y, formula, streamed })
}

/// A part that is worth handing to another thread, in elements.
const PART: usize = 1 << 14;

struct OnThreads<'a, T, F, const N: usize> {
    pool: &'a Pool,
    isa: Isa,
    x: [&'a [T]; N],
    y: &'a mut [T],
    formula: F,
    streamed: bool,
}

impl<T: Send + Sync, F: Formula<N>, const N: usize> InLanes<T> for OnThreads<'_, T, F, N> {
    fn run(self)
    where
        T: Element,
    {
        let OnThreads { pool, isa, x, y, formula, streamed } = self;
        pool.run_parts_of(y, stream::line::<T>(), PART, |offset, y| {
            let x = x.map(|x| &x[offset..][..y.len()]);
            isa.run(Over { x, y, formula, streamed });
        });
    }
}

/// A formula over slices of one length.
pub(crate) struct Over<'a, T, F, const N: usize> {
    pub(crate) x: [&'a [T]; N],
    pub(crate) y: &'a mut [T],
    pub(crate) formula: F,
    /// Past the caches, because nothing would keep it.
    pub(crate) streamed: bool,
}

/// Lines that are computed together. Where the output is streamed they are far apart: a processor fetches ahead
/// within a page, and more pages at once keep more of memory busy. Where it stays in a cache they are neighbours.
const LINES: usize = 4;

/// Vectors of a line: of 2-byte elements, with eight lanes.
const MOST_VECTORS: usize = 4;

impl<T: Element, F: Formula<N>, const N: usize> Vectorize for Over<'_, T, F, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Over { x, y, formula, streamed } = self;
        let line = stream::line::<T>();
        // A few elements in front bring the output to the start of a line.
        let head = stream::unaligned_head(y);
        let part = (y.len() - head) / LINES / line * line;
        let (advance, distance) = if streamed { (line, part) } else { (LINES * line, line) };
        let body = head + LINES * part;
        assert!(x.iter().all(|x| x.len() == y.len()));
        // Loops, not closures: these would leave the function that has the vector features.
        for step in 0..part / line {
            let first = head + step * advance;
            // All are read before any is written: memory turns from one to the other less often.
            let mut results = [[lanes.splat(0.0); MOST_VECTORS]; LINES];
            for (at, results) in results.iter_mut().enumerate() {
                for (vector, result) in results.iter_mut().enumerate().take(line / L::LANES) {
                    let from = first + at * distance + vector * L::LANES;
                    let mut v = [lanes.splat(0.0); N];
                    for i in 0..N {
                        // SAFETY: the last of LINES · part elements after `head`, which is `body`, is in every slice.
                        v[i] = T::load(lanes, unsafe { x[i].get_unchecked(from..from + L::LANES) });
                    }
                    *result = formula.of(lanes, v);
                }
            }
            for (at, results) in results.into_iter().enumerate() {
                for (vector, result) in results.into_iter().enumerate().take(line / L::LANES) {
                    let to = first + at * distance + vector * L::LANES;
                    // SAFETY: as above.
                    let y = unsafe { y.get_unchecked_mut(to..to + L::LANES) };
                    if streamed {
                        T::stream(lanes, result, y);
                    } else {
                        T::store(lanes, result, y);
                    }
                }
            }
        }
        for rest in [0..head, body..y.len()] {
            for from in rest.clone().step_by(L::LANES) {
                let to = rest.end.min(from + L::LANES);
                let mut v = [lanes.splat(0.0); N];
                for i in 0..N {
                    v[i] = T::load_partial(lanes, &x[i][from..to], T::default());
                }
                T::store_partial(lanes, formula.of(lanes, v), &mut y[from..to]);
            }
        }
        if streamed {
            lanes.fence();
        }
    }
}

/// y = f(x, y) over lanes, on these threads; false, and nothing done, where the type has none.
#[track_caller]
pub(crate) fn update_lanes<T: Scalar>(
    pool: &Pool,
    isa: Isa,
    x: &[T],
    y: &mut [T],
    shape: Rows,
    formula: impl Formula<2>,
) -> bool {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    T::in_lanes(UpdateOnThreads { pool, isa, x, y, formula })
}

struct UpdateOnThreads<'a, T, F> {
    pool: &'a Pool,
    isa: Isa,
    x: &'a [T],
    y: &'a mut [T],
    formula: F,
}

impl<T: Send + Sync, F: Formula<2>> InLanes<T> for UpdateOnThreads<'_, T, F> {
    fn run(self)
    where
        T: Element,
    {
        let UpdateOnThreads { pool, isa, x, y, formula } = self;
        pool.run_parts_of(y, stream::line::<T>(), PART, |offset, y| {
            isa.run(Update { x: &x[offset..][..y.len()], y, formula });
        });
    }
}

/// A formula of x and of what y is, over slices of one length. Ordinary stores: the lines are at hand.
struct Update<'a, T, F> {
    x: &'a [T],
    y: &'a mut [T],
    formula: F,
}

impl<T: Element, F: Formula<2>> Vectorize for Update<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Update { x, y, formula } = self;
        let mut x = x.chunks_exact(L::LANES);
        let mut y = y.chunks_exact_mut(L::LANES);
        for (x, y) in (&mut x).zip(&mut y) {
            T::store(lanes, formula.of(lanes, [T::load(lanes, x), T::load(lanes, y)]), y);
        }
        let (x, y) = (x.remainder(), y.into_remainder());
        let v = [T::load_partial(lanes, x, T::default()), T::load_partial(lanes, y, T::default())];
        T::store_partial(lanes, formula.of(lanes, v), y);
    }
}
