//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Pow;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = x ^ exponent.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, pow_scalar::parallel::pow_scalar};
///
/// let mut y = [0.0f32; 3];
/// pow_scalar(&Cpu::new(2), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 }, 2.0);
/// assert_eq!(y, [1.0, 4.0, 9.0]);
/// ```
pub fn pow_scalar<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, exponent: f64) {
    if !map_parallel(cpu, [x], y, shape, Pow(exponent as f32)) {
        plain::pow_scalar(cpu, x, y, shape, exponent);
    }
}
