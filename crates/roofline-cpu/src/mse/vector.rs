//! A pass in lanes over each block of all, or one over the elements.

use crate::elementwise::{Formula, map_lanes, map_parallel};
use crate::lanes::Lanes;
use crate::rowwise::{Terms, total};
use crate::{Cpu, Element, Pool, Real, Rows, Scalar};

/// The mean of (p − t)².
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mse::vector::mse};
///
/// let mut y = [0.0_f32];
/// mse(&Cpu::serial(), &[1.0, 2.0], &[3.0, 2.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [2.0]);
/// ```
pub fn mse<T: Element>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    sum_on(Pool::alone(), cpu, p, t, y, shape, shape.len());
}

/// The same, blocks on all threads.
pub fn mse_parallel<T: Element>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    sum_on(&cpu.pool, cpu, p, t, y, shape, shape.len());
}

/// The sum of (p − t)².
pub fn mse_sum<T: Element>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    sum_on(Pool::alone(), cpu, p, t, y, shape, 1);
}

/// The same, blocks on all threads.
pub fn mse_sum_parallel<T: Element>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    sum_on(&cpu.pool, cpu, p, t, y, shape, 1);
}

/// (p − t)² of each.
pub fn mse_none<T: Element>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    map_lanes(cpu, [p, t], y, shape, Square);
}

/// The same, each thread on a part of its own.
pub fn mse_none_parallel<T: Element>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    map_parallel(cpu, [p, t], y, shape, Square);
}

/// The sum over a divisor, on these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn sum_on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    p: &[T],
    t: &[T],
    y: &mut [T],
    shape: Rows,
    divisor: usize,
) -> bool {
    assert!([p.len(), t.len(), y.len()] == [shape.len(), shape.len(), 1], "lengths for {shape:?}");
    let Some(sum) = total(pool, cpu, [p, t], Square) else { return false };
    y[0] = T::narrow(T::Wide::of(f64::from(sum / divisor as f32)));
    true
}

/// (p − t)².
#[derive(Clone, Copy)]
pub(super) struct Square;

impl Formula<2> for Square {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [p, t]: [L::F; 2]) -> L::F {
        let difference = lanes.sub(p, t);
        lanes.mul(difference, difference)
    }
}

impl Terms<2, 1> for Square {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum]: [L::F; 1], [p, t]: [L::F; 2]) -> [L::F; 1] {
        let difference = lanes.sub(p, t);
        [lanes.mul_add(difference, difference, sum)]
    }
}
