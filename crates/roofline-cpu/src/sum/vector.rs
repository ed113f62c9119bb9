//! A pass in lanes over each row, or over each block of all; sums of columns take a row at a time.

use crate::lanes::Lanes;
use crate::reduce::pairwise;
use crate::rowwise::{self, BLOCKS, Itself, Number, blocks, reduce, sums};
use crate::{Cpu, Element, Pool, Rows};

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
    reduce(Pool::alone(), cpu, x, y, shape, Sum);
}

/// The same, rows on all threads.
pub fn sum_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(&cpu.pool, cpu, x, y, shape, Sum);
}

/// The sum of each column.
pub fn sum_columns<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rowwise::sum_columns(Pool::alone(), cpu, x, y, shape, 1.0);
}

/// The same, columns on all threads.
pub fn sum_columns_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rowwise::sum_columns(&cpu.pool, cpu, x, y, shape, 1.0);
}

/// The sum of all, block by block.
pub fn sum_all<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(Pool::alone(), cpu, x, y, shape);
}

/// The same, blocks on all threads.
pub fn sum_all_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(&cpu.pool, cpu, x, y, shape);
}

fn all_on<T: Element>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(), 1], "lengths for {shape:?}");
    y[0] = T::narrow(total(pool, cpu, x));
}

/// The sum of all; of the blocks, that of each half first.
pub(crate) fn total<T: Element>(pool: &Pool, cpu: &Cpu, x: &[T]) -> f32 {
    let sums = blocks(pool, cpu, [x], Sum).unwrap_or([f32::NAN; BLOCKS]);
    pairwise(0..BLOCKS, &|block| sums[block])
}

#[derive(Clone, Copy)]
pub(super) struct Sum;

impl Number<1> for Sum {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> f32 {
        let [sum] = sums(lanes, [row], Itself);
        sum
    }
}
