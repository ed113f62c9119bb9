//! A pass in lanes over each row, or over each block of all; sums of columns take rows as they lie.

use crate::columnwise::{self, one};
use crate::lanes::Lanes;
use crate::rowwise::{Itself, Number, reduce, sums, total};
use crate::sum::vector::SumColumns;
use crate::{Cpu, Element, Pool, Real, Rows, Scalar};

/// The mean of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mean::vector::mean};
///
/// let mut y = [0.0_f32; 2];
/// mean(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [1.5, 3.5]);
/// ```
pub fn mean<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(Pool::alone(), cpu, x, y, shape, Mean);
}

/// The same, rows on all threads.
pub fn mean_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(&cpu.pool, cpu, x, y, shape, Mean);
}

/// The mean of each column of each matrix.
pub fn mean_axis<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    axis_on(Pool::alone(), cpu, x, y, shape);
}

/// The same, columns on all threads.
pub fn mean_axis_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    axis_on(&cpu.pool, cpu, x, y, shape);
}

/// The mean of each column.
pub fn mean_columns<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    axis_on(Pool::alone(), cpu, x, y, one(shape));
}

/// The same, columns on all threads.
pub fn mean_columns_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    axis_on(&cpu.pool, cpu, x, y, one(shape));
}

/// The mean of all, block by block.
pub fn mean_all<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(Pool::alone(), cpu, x, y, shape);
}

/// The same, blocks on all threads.
pub fn mean_all_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(&cpu.pool, cpu, x, y, shape);
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn axis_on<T: Scalar>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) -> bool {
    columnwise::reduce(pool, cpu, x, y, shape, SumColumns { divisor: shape[1] as f32 })
}

/// The same of all.
#[track_caller]
pub(super) fn all_on<T: Scalar>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) -> bool {
    assert!([x.len(), y.len()] == [shape.len(), 1], "lengths for {shape:?}");
    let Some(total) = total(pool, cpu, [x], Itself) else { return false };
    y[0] = T::narrow(T::Wide::of(f64::from(total / x.len() as f32)));
    true
}

#[derive(Clone, Copy)]
pub(super) struct Mean;

impl Number<1> for Mean {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> [f32; 1] {
        let [sum] = sums(lanes, [row], Itself);
        [sum / row.len() as f32]
    }
}
