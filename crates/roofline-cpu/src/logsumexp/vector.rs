//! Two passes in lanes over each row, the second from a near cache: the largest element, then exponentials around it.

use super::plain::log_sum;
use crate::columnwise::{self, Columns, Strip, StripMut, one};
use crate::lanes::Lanes;
use crate::math::exp;
use crate::reduce::{Line, pairwise};
use crate::rowwise::{BLOCKS, Number, Terms, blocks, largest, reduce, sums};
use crate::{Cpu, Element, Pool, Real, Rows, Scalar};

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

/// The logarithm of the sum of exponentials of each column.
pub fn logsumexp_columns<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columnwise::reduce(Pool::alone(), cpu, x, y, one(shape), LogSumExpColumns);
}

/// The same, columns on all threads.
pub fn logsumexp_columns_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columnwise::reduce(&cpu.pool, cpu, x, y, one(shape), LogSumExpColumns);
}

/// The logarithm of the sum of exponentials of each column of each matrix.
pub fn logsumexp_axis<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    columnwise::reduce(Pool::alone(), cpu, x, y, shape, LogSumExpColumns);
}

/// The same, columns on all threads.
pub fn logsumexp_axis_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    columnwise::reduce(&cpu.pool, cpu, x, y, shape, LogSumExpColumns);
}

/// The logarithm of the sum of exponentials of all, block by block.
pub fn logsumexp_all<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(Pool::alone(), cpu, x, y, shape);
}

/// The same, blocks on all threads.
pub fn logsumexp_all_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(&cpu.pool, cpu, x, y, shape);
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn all_on<T: Scalar>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) -> bool {
    assert!([x.len(), y.len()] == [shape.len(), 1], "lengths for {shape:?}");
    let Some(parts) = blocks(pool, cpu, [x], Parts) else { return false };
    let most = parts.iter().fold(f32::NEG_INFINITY, |most, [largest, _]| most.max(*largest));
    y[0] = if most.is_finite() {
        let sum = pairwise(0..BLOCKS, &|block| parts[block][1] * (parts[block][0] - most).exp());
        T::narrow(T::Wide::of(f64::from(most + sum.ln())))
    } else {
        T::narrow(log_sum(Line::row(x)))
    };
    true
}

#[derive(Clone, Copy)]
pub(super) struct LogSumExp;

impl Number<1> for LogSumExp {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> [f32; 1] {
        let [largest, sum] = Parts.of(lanes, [row]);
        [if largest.is_finite() { largest + sum.ln() } else { log_sum(Line::row(row)) }]
    }
}

/// The largest element that is not NaN, and the sum of exponentials around it if it is finite.
#[derive(Clone, Copy)]
struct Parts;

impl Number<1, 2> for Parts {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> [f32; 2] {
        let largest = largest(lanes, row);
        // Where all is -∞ or NaN this is 0 or NaN.
        [largest, exponentials(lanes, row, if largest.is_finite() { largest } else { 0.0 })]
    }
}

/// The same of columns.
#[derive(Clone, Copy)]
pub(super) struct LogSumExpColumns;

impl<T: Scalar> Columns<T> for LogSumExpColumns {
    const RETURNS: bool = true;

    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: Strip<'_, T>, mut y: StripMut<'_, T>)
    where
        T: Element,
    {
        let [most, sums] = columnwise::exponentials(lanes, x);
        for (index, y) in y.row(0).iter_mut().enumerate() {
            let (most, sum) = (most[index], sums[index]);
            *y = T::narrow(if most.is_finite() { most + sum.ln() } else { log_sum(x.column(index)) });
        }
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
