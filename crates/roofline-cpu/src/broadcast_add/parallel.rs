//! The vector loop on all threads, each on rows of its own.

use super::vector::broadcast_on;
use crate::{Cpu, Scalar};

/// z = x + y with y of `shape` and x of the same but for 1 at axis `along`.
///
/// ```
/// use roofline_cpu::{Cpu, broadcast_add::parallel::broadcast_add};
///
/// let mut z = [0.0f32; 4];
/// broadcast_add(&Cpu::new(2), &[10.0, 20.0], &[1.0, 2.0, 3.0, 4.0], &mut z, [2, 1, 2], 0);
/// assert_eq!(z, [11.0, 22.0, 13.0, 24.0]);
/// ```
pub fn broadcast_add<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: [usize; 3], along: usize) {
    broadcast_on(&cpu.pool, cpu, x, y, z, shape, along);
}
