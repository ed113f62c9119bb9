//! Three passes in lanes over each row, two of them from a near cache.

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
