//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Div;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// z = x / y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, div::parallel::div};
///
/// let mut z = [0.0f32; 3];
/// div(&Cpu::new(2), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [2.0, 4.0, 6.0]);
/// ```
pub fn div<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x, y], z, shape, Div) {
        plain::div(cpu, x, y, z, shape);
    }
}
