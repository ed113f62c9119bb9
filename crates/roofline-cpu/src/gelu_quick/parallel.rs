//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::GeluQuick;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = x · sigmoid(1.702 · x).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu_quick::parallel::gelu_quick};
///
/// let mut y = [0.5f32; 3];
/// gelu_quick(&Cpu::new(2), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu_quick<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, GeluQuick) {
        plain::gelu_quick(cpu, x, y, shape);
    }
}
