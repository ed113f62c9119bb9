//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Add;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// z = x + y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add::parallel::add};
///
/// let mut z = [0.0f32; 3];
/// add(&Cpu::new(2), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [1.5, 2.5, 3.5]);
/// ```
pub fn add<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x, y], z, shape, Add) {
        plain::add(cpu, x, y, z, shape);
    }
}
