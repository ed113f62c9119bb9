//! A pass in lanes over each row, which adds up differences of elements to themselves: 0, or NaN where there is a NaN or an
//! infinity, and then the definition decides.

use super::plain::largest as largest_of;
use crate::columnwise::{self, Columns, Step, Strip, StripMut, fold, numbers, one};
use crate::lanes::Lanes;
use crate::math::magnitude;
use crate::reduce::Line;
use crate::rowwise::{Number, Terms, blocks, largest, reduce, sums};
use crate::{Cpu, Element, Pool, Real, Rows, Scalar};

/// The largest element of each row; NaN where there is one.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, max::vector::max};
///
/// let mut y = [0.0_f32; 2];
/// max(&Cpu::serial(), &[1.0, 2.0, f32::NAN, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert!(y[0] == 2.0 && y[1].is_nan());
/// ```
pub fn max<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(Pool::alone(), cpu, x, y, shape, Max);
}

/// The same, rows on all threads.
pub fn max_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(&cpu.pool, cpu, x, y, shape, Max);
}

/// The largest element of each column.
pub fn max_columns<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columnwise::reduce(Pool::alone(), cpu, x, y, one(shape), MaxColumns);
}

/// The same, columns on all threads.
pub fn max_columns_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columnwise::reduce(&cpu.pool, cpu, x, y, one(shape), MaxColumns);
}

/// The largest element of each column of each matrix.
pub fn max_axis<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    columnwise::reduce(Pool::alone(), cpu, x, y, shape, MaxColumns);
}

/// The same, columns on all threads.
pub fn max_axis_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    columnwise::reduce(&cpu.pool, cpu, x, y, shape, MaxColumns);
}

/// The largest element of all, block by block.
pub fn max_all<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(Pool::alone(), cpu, x, y, shape);
}

/// The same, blocks on all threads.
pub fn max_all_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all_on(&cpu.pool, cpu, x, y, shape);
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn all_on<T: Scalar>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) -> bool {
    assert!([x.len(), y.len()] == [shape.len(), 1], "lengths for {shape:?}");
    let Some(largest) = blocks(pool, cpu, [x], Max) else { return false };
    y[0] = T::narrow(T::Wide::of(f64::from(largest_of(Line::row(largest.as_flattened())))));
    true
}

#[derive(Clone, Copy)]
pub(super) struct Max;

impl Number<1> for Max {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> [f32; 1] {
        let [odd] = sums(lanes, [row], Nothing);
        [if odd == 0.0 { largest(lanes, row) } else { largest_of(Line::row(row)) }]
    }
}

/// x − x.
#[derive(Clone, Copy)]
struct Nothing;

impl Terms<1, 1> for Nothing {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum]: [L::F; 1], [x]: [L::F; 1]) -> [L::F; 1] {
        [lanes.add(sum, lanes.sub(x, x))]
    }
}

/// The same of columns.
#[derive(Clone, Copy)]
pub(super) struct MaxColumns;

impl<T: Scalar> Columns<T> for MaxColumns {
    const RETURNS: bool = false;

    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: Strip<'_, T>, mut y: StripMut<'_, T>)
    where
        T: Element,
    {
        let mut most = numbers(x.width(), f32::NEG_INFINITY);
        fold(lanes, x, &mut most, LargerOrNan);
        for (most, y) in most.iter().zip(y.row(0)) {
            *y = T::narrow(*most);
        }
    }
}

/// The larger of the two; NaN once there was one.
#[derive(Clone, Copy)]
struct LargerOrNan;

impl Step for LargerOrNan {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, known: L::F, x: L::F, _: usize) -> L::F {
        // `max` takes its second operand on NaN, so an element that is NaN becomes what is known. That is then no less
        // than infinity: whatever is added, it stays.
        let is_usual = lanes.less(known, lanes.splat(f32::INFINITY));
        lanes.select(is_usual, lanes.max(known, x), lanes.add(known, magnitude(lanes, x)))
    }
}
