//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Relu;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = max(x, 0).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, relu::parallel::relu};
///
/// let mut y = [0.0f32; 3];
/// relu(&Cpu::new(2), &[-1.0, 0.0, 2.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0, 0.0, 2.0]);
/// ```
pub fn relu<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Relu) {
        plain::relu(cpu, x, y, shape);
    }
}
