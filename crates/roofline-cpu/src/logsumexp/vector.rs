//! Two passes in lanes over each row, the second from a near cache: the largest element, then exponentials around it.

use super::plain::log_sum;
use crate::lanes::Lanes;
use crate::math::exp;
use crate::reduce::Line;
use crate::rowwise::{Number, Terms, largest, reduce, sums};
use crate::{Cpu, Element, Pool, Rows};

/// The logarithm of the sum of exponentials of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, logsumexp::vector::logsumexp};
///
/// let mut y = [0.0_f32; 2];
/// let x = [0.0, f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0];
/// logsumexp(&Cpu::serial(), &x, &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.0, 0.0]);
/// ```
pub fn logsumexp<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(Pool::alone(), cpu, x, y, shape, LogSumExp);
}

/// The same, rows on all threads.
pub fn logsumexp_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(&cpu.pool, cpu, x, y, shape, LogSumExp);
}

#[derive(Clone, Copy)]
pub(super) struct LogSumExp;

impl Number<1> for LogSumExp {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> f32 {
        let largest = largest(lanes, row);
        if !largest.is_finite() {
            return log_sum(Line::row(row));
        }
        largest + exponentials(lanes, row, largest).ln()
    }
}

/// The sum of exp(x - largest).
#[inline(always)]
pub(crate) fn exponentials<L: Lanes, T: Element>(lanes: L, row: &[T], largest: f32) -> f32 {
    let [sum] = sums(lanes, [row], Exponential { largest });
    sum
}

/// exp(x - largest).
#[derive(Clone, Copy)]
struct Exponential {
    largest: f32,
}

impl Terms<1, 1> for Exponential {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum]: [L::F; 1], [x]: [L::F; 1]) -> [L::F; 1] {
        [lanes.add(sum, exp(lanes, lanes.sub(x, lanes.splat(self.largest))))]
    }
}
