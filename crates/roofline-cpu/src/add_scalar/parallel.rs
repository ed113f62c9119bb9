//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::AddScalar;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = x + scalar.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add_scalar::parallel::add_scalar};
///
/// let mut y = [0.0f32; 3];
/// add_scalar(&Cpu::new(2), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 }, 2.5);
/// assert_eq!(y, [3.5, 4.5, 5.5]);
/// ```
pub fn add_scalar<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, scalar: f64) {
    if !map_parallel(cpu, [x], y, shape, AddScalar(scalar as f32)) {
        plain::add_scalar(cpu, x, y, shape, scalar);
    }
}
