//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Sigmoid;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = 1 / (1 + e⁻ˣ).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sigmoid::parallel::sigmoid};
///
/// let mut y = [0.0f32; 3];
/// sigmoid(&Cpu::new(2), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.5; 3]);
/// ```
pub fn sigmoid<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Sigmoid) {
        plain::sigmoid(cpu, x, y, shape);
    }
}
