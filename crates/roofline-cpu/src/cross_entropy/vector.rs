//! Two passes in lanes over each row, the second from a near cache; rows that do not count are not read.

use super::IGNORED;
use crate::lanes::Lanes;
use crate::logsumexp::vector::exponentials;
use crate::reduce::pairwise;
use crate::rowwise::{PIECE, largest};
use crate::scalar::InLanes;
use crate::scratch::Scratch;
use crate::{Cpu, Element, Isa, Pool, Real, Rows, Scalar, Vectorize};

/// The mean loss of the rows whose target is not [`IGNORED`]; NaN where there is none.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cross_entropy::vector::cross_entropy};
///
/// let mut y = [0.0_f32];
/// cross_entropy(&Cpu::serial(), &[0.0, 0.0, 9.0, 5.0], &[1, -100], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2f32.ln()]);
/// ```
pub fn cross_entropy<T: Element>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    mean_on(Pool::alone(), cpu, x, t, y, shape);
}

/// The same, rows on all threads.
pub fn cross_entropy_parallel<T: Element>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    mean_on(&cpu.pool, cpu, x, t, y, shape);
}

/// The loss of each row; 0 where its target is [`IGNORED`].
pub fn cross_entropy_none<T: Element>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    each_on(Pool::alone(), cpu, x, t, y, shape);
}

/// The same, rows on all threads.
pub fn cross_entropy_none_parallel<T: Element>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    each_on(&cpu.pool, cpu, x, t, y, shape);
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn mean_on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    t: &[i32],
    y: &mut [T],
    shape: Rows,
) -> bool {
    assert!([x.len(), t.len(), y.len()] == [shape.len(), shape.rows, 1], "lengths for {shape:?}");
    let counted = t.iter().filter(|t| **t != IGNORED).count();
    let mut losses = Scratch::<f32>::take(shape.rows);
    let is_done = T::in_lanes(OnThreads { pool, isa: cpu.isa, x, t, y: &mut losses, cols: shape.cols });
    if is_done {
        let mean = pairwise(0..shape.rows, &|row| losses[row]) / counted as f32;
        y[0] = T::narrow(T::Wide::of(f64::from(mean)));
    }
    is_done
}

/// The same of each.
#[track_caller]
pub(super) fn each_on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    t: &[i32],
    y: &mut [T],
    shape: Rows,
) -> bool {
    assert!([x.len(), t.len(), y.len()] == [shape.len(), shape.rows, shape.rows], "lengths for {shape:?}");
    T::in_lanes(OnThreads { pool, isa: cpu.isa, x, t, y, cols: shape.cols })
}

/// The losses as numbers of any type.
struct OnThreads<'a, T, Y> {
    pool: &'a Pool,
    isa: Isa,
    x: &'a [T],
    t: &'a [i32],
    y: &'a mut [Y],
    cols: usize,
}

impl<T: Scalar, Y: Scalar> InLanes<T> for OnThreads<'_, T, Y> {
    fn run(self)
    where
        T: Element,
    {
        let OnThreads { pool, isa, x, t, y, cols } = self;
        pool.run_pieces(y, 1, PIECE / cols.max(1), |first, y| {
            isa.run(Losses { x: &x[first * cols..], t: &t[first..], y, cols });
        });
    }
}

struct Losses<'a, T, Y> {
    x: &'a [T],
    t: &'a [i32],
    y: &'a mut [Y],
    cols: usize,
}

impl<T: Element, Y: Scalar> Vectorize for Losses<'_, T, Y> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (row, (t, y)) in self.t.iter().zip(self.y).enumerate() {
            let x = &self.x[row * self.cols..][..self.cols];
            let loss = if *t == IGNORED {
                0.0
            } else {
                let largest = largest(lanes, x);
                exponentials(lanes, x, largest).ln() - (x[*t as usize].wide() - largest)
            };
            *y = Y::narrow(Y::Wide::of(f64::from(loss)));
        }
    }
}
