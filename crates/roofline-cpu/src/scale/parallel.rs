//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Scale;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = scalar · x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, scale::parallel::scale};
///
/// let mut y = [0.0f32; 3];
/// scale(&Cpu::new(2), &[1.0, 2.0, 4.0], &mut y, Rows { rows: 1, cols: 3 }, 2.5);
/// assert_eq!(y, [2.5, 5.0, 10.0]);
/// ```
pub fn scale<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, scalar: f64) {
    if !map_parallel(cpu, [x], y, shape, Scale(scalar as f32)) {
        plain::scale(cpu, x, y, shape, scalar);
    }
}
