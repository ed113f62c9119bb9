//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Cos;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = cos x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cos::parallel::cos};
///
/// let mut y = [0.5f32; 3];
/// cos(&Cpu::new(2), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0; 3]);
/// ```
pub fn cos<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Cos) {
        plain::cos(cpu, x, y, shape);
    }
}
