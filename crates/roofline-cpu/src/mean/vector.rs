//! A pass in lanes over each row, or over each block of all; sums of columns take a row at a time.

use crate::lanes::Lanes;
use crate::rowwise::{self, Itself, Number, reduce, sums};
use crate::sum::vector::total;
use crate::{Cpu, Element, Pool, Rows};

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

/// The mean of each column.
pub fn mean_columns<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rowwise::sum_columns(Pool::alone(), cpu, x, y, shape, shape.rows as f32);
}

/// The same, columns on all threads.
pub fn mean_columns_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rowwise::sum_columns(&cpu.pool, cpu, x, y, shape, shape.rows as f32);
}

/// The mean of all, block by block.
pub fn mean_all<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(Pool::alone(), cpu, x, y, shape);
}

/// The same, blocks on all threads.
pub fn mean_all_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(&cpu.pool, cpu, x, y, shape);
}

fn all_on<T: Element>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(), 1], "lengths for {shape:?}");
    y[0] = T::narrow(total(pool, cpu, x) / x.len() as f32);
}

#[derive(Clone, Copy)]
pub(super) struct Mean;

impl Number<1> for Mean {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> f32 {
        let [sum] = sums(lanes, [row], Itself);
        sum / row.len() as f32
    }
}
