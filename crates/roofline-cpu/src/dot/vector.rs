//! Products in lanes, block by block: as many blocks whatever the threads, so that all give the same bits.

use crate::rowwise::{Product, total};
use crate::{Cpu, Element, Pool, Real, Scalar};

/// z = Σ x · y.
///
/// ```
/// use roofline_cpu::{Cpu, dot::vector::dot};
///
/// let mut z = [0.0_f32];
/// dot(&Cpu::serial(), &[1.0, 2.0], &[3.0, 4.0], &mut z);
/// assert_eq!(z, [11.0]);
/// ```
pub fn dot<T: Element>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T]) {
    on(Pool::alone(), cpu, x, y, z);
}

/// The same, blocks on all threads.
pub fn dot_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T]) {
    on(&cpu.pool, cpu, x, y, z);
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn on<T: Scalar>(pool: &Pool, cpu: &Cpu, x: &[T], y: &[T], z: &mut [T]) -> bool {
    assert!(x.len() == y.len() && z.len() == 1, "lengths for {} products", x.len());
    let Some(sum) = total(pool, cpu, [x, y], Product) else { return false };
    z[0] = T::narrow(T::Wide::of(f64::from(sum)));
    true
}
