//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Sub;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// z = x - y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sub::parallel::sub};
///
/// let mut z = [0.0f32; 3];
/// sub(&Cpu::new(2), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [0.5, 1.5, 2.5]);
/// ```
pub fn sub<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x, y], z, shape, Sub) {
        plain::sub(cpu, x, y, z, shape);
    }
}
