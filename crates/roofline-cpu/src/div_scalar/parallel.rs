//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::DivScalar;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = x / scalar.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, div_scalar::parallel::div_scalar};
///
/// let mut y = [0.0f32; 3];
/// div_scalar(&Cpu::new(2), &[2.5, 5.0, 10.0], &mut y, Rows { rows: 1, cols: 3 }, 2.5);
/// assert_eq!(y, [1.0, 2.0, 4.0]);
/// ```
pub fn div_scalar<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, scalar: f64) {
    if !map_parallel(cpu, [x], y, shape, DivScalar(scalar as f32)) {
        plain::div_scalar(cpu, x, y, shape, scalar);
    }
}
