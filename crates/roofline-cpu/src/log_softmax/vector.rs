//! Three passes in lanes over each row, two of them from a near cache.

use crate::columnwise::{self, Columns, Finish, Strip, StripMut, one};
use crate::lanes::Lanes;
use crate::logsumexp::vector::exponentials;
use crate::rowwise::{Line, Places, largest, map, write};
use crate::{Cpu, Element, Pool, Rows, Scalar};
use std::ops::Range;

/// The logarithm of the softmax of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, log_softmax::vector::log_softmax};
///
/// let mut y = [0.0_f32; 2];
/// log_softmax(&Cpu::serial(), &[7.0, 7.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [-(2f32.ln()); 2]);
/// ```
pub fn log_softmax<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(Pool::alone(), cpu, x, y, shape, LogSoftmax);
}

/// The same, rows on all threads.
pub fn log_softmax_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(&cpu.pool, cpu, x, y, shape, LogSoftmax);
}

/// The logarithm of the softmax of each column.
pub fn log_softmax_columns<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columnwise::map(Pool::alone(), cpu, x, y, one(shape), LogSoftmaxColumns);
}

/// The same, columns on all threads.
pub fn log_softmax_columns_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columnwise::map(&cpu.pool, cpu, x, y, one(shape), LogSoftmaxColumns);
}

/// The logarithm of the softmax of each column of each matrix.
pub fn log_softmax_axis<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    columnwise::map(Pool::alone(), cpu, x, y, shape, LogSoftmaxColumns);
}

/// The same, columns on all threads.
pub fn log_softmax_axis_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    columnwise::map(&cpu.pool, cpu, x, y, shape, LogSoftmaxColumns);
}

#[derive(Clone, Copy)]
pub(super) struct LogSoftmax;

impl<T: Scalar> Line<T> for LogSoftmax {
    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: &[T], y: &mut [T], streamed: bool)
    where
        T: Element,
    {
        let largest = largest(lanes, x);
        let log = exponentials(lanes, x, largest).ln();
        write(lanes, x, y, streamed, Shifted { largest, log });
    }
}

/// x - largest - log.
#[derive(Clone, Copy)]
struct Shifted {
    largest: f32,
    log: f32,
}

impl Places for Shifted {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, _: Range<usize>) -> L::F {
        lanes.sub(lanes.sub(x, lanes.splat(self.largest)), lanes.splat(self.log))
    }
}

/// The same of columns.
#[derive(Clone, Copy)]
pub(super) struct LogSoftmaxColumns;

impl<T: Scalar> Columns<T> for LogSoftmaxColumns {
    const RETURNS: bool = true;

    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: Strip<'_, T>, y: StripMut<'_, T>)
    where
        T: Element,
    {
        let [most, mut logs] = columnwise::exponentials(lanes, x);
        logs.iter_mut().for_each(|sum| *sum = sum.ln());
        columnwise::write(lanes, x, y, ShiftedEach { most: &most, logs: &logs });
    }
}

/// x - largest - log, of each column.
#[derive(Clone, Copy)]
struct ShiftedEach<'a> {
    most: &'a [f32],
    logs: &'a [f32],
}

impl Finish for ShiftedEach<'_> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, place: usize) -> L::F {
        let [most, log] = [lanes.load_f32(&self.most[place..]), lanes.load_f32(&self.logs[place..])];
        lanes.sub(lanes.sub(x, most), log)
    }
}
