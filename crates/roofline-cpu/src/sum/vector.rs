//! A pass in lanes over each row, or over each block of all; sums of columns take rows as they lie.

use crate::columnwise::{self, Columns, Step, Strip, StripMut, fold, numbers, one};
use crate::lanes::Lanes;
use crate::rowwise::{Itself, Summed, reduce, total};
use crate::{Cpu, Element, Pool, Real, Rows, Scalar};

/// The sum of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum::vector::sum};
///
/// let mut y = [0.0_f32; 2];
/// sum(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [3.0, 7.0]);
/// ```
pub fn sum<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(Pool::alone(), cpu, x, y, shape, Summed(Itself));
}

/// The same, rows on all threads.
pub fn sum_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(&cpu.pool, cpu, x, y, shape, Summed(Itself));
}

/// The sum of each column of each matrix.
pub fn sum_axis<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    axis_on(Pool::alone(), cpu, x, y, shape);
}

/// The same, columns on all threads.
pub fn sum_axis_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    axis_on(&cpu.pool, cpu, x, y, shape);
}

/// The sum of each column.
pub fn sum_columns<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    axis_on(Pool::alone(), cpu, x, y, one(shape));
}

/// The same, columns on all threads.
pub fn sum_columns_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    axis_on(&cpu.pool, cpu, x, y, one(shape));
}

/// The sum of all, block by block.
pub fn sum_all<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(Pool::alone(), cpu, x, y, shape);
}

/// The same, blocks on all threads.
pub fn sum_all_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(&cpu.pool, cpu, x, y, shape);
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn axis_on<T: Scalar>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) -> bool {
    columnwise::reduce(pool, cpu, x, y, shape, SumColumns { divisor: 1.0 })
}

/// The same of all.
#[track_caller]
pub(super) fn all_on<T: Scalar>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) -> bool {
    assert!([x.len(), y.len()] == [shape.len(), 1], "lengths for {shape:?}");
    let Some(total) = total(pool, cpu, [x], Itself) else { return false };
    y[0] = T::narrow(T::Wide::of(f64::from(total)));
    true
}

/// The sum of each column over a divisor.
#[derive(Clone, Copy)]
pub(crate) struct SumColumns {
    pub(crate) divisor: f32,
}

impl<T: Scalar> Columns<T> for SumColumns {
    const RETURNS: bool = false;

    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: Strip<'_, T>, mut y: StripMut<'_, T>)
    where
        T: Element,
    {
        let mut sums = numbers(x.width(), 0.0);
        fold(lanes, x, &mut sums, Added);
        for (sum, y) in sums.iter().zip(y.row(0)) {
            *y = T::narrow(sum / self.divisor);
        }
    }
}

/// One element more.
#[derive(Clone, Copy)]
struct Added;

impl Step for Added {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, known: L::F, x: L::F, _: usize) -> L::F {
        lanes.add(known, x)
    }
}
