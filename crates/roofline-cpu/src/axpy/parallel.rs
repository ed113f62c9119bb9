//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Axpy;
use crate::elementwise::{map_parallel, update_lanes};
use crate::{Cpu, Rows, Scalar};

/// z = a · x + y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, axpy::parallel::axpy};
///
/// let mut z = [0.0f32; 2];
/// axpy(&Cpu::new(2), &[1.0, 2.0], &[0.5; 2], &mut z, Rows { rows: 1, cols: 2 }, 2.5);
/// assert_eq!(z, [3.0, 5.5]);
/// ```
pub fn axpy<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows, a: f64) {
    if !map_parallel(cpu, [x, y], z, shape, Axpy(a as f32)) {
        plain::axpy(cpu, x, y, z, shape, a);
    }
}

/// z = a · x + z, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, axpy_in_place};
///
/// let mut z = [0.5, 1.0];
/// axpy_in_place(&Cpu::new(2), &[1.0, 2.0], &mut z, Rows { rows: 1, cols: 2 }, 2.5);
/// assert_eq!(z, [3.0, 6.0]);
/// ```
pub fn axpy_in_place<T: Scalar>(cpu: &Cpu, x: &[T], z: &mut [T], shape: Rows, a: f64) {
    if !update_lanes(&cpu.pool, cpu.isa, x, z, shape, Axpy(a as f32)) {
        plain::axpy_in_place(cpu, x, z, shape, a);
    }
}
