//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Sqrt;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = √x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sqrt::parallel::sqrt};
///
/// let mut y = [0.5f32; 3];
/// sqrt(&Cpu::new(2), &[1.0, 4.0, 9.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0, 2.0, 3.0]);
/// ```
pub fn sqrt<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Sqrt) {
        plain::sqrt(cpu, x, y, shape);
    }
}
