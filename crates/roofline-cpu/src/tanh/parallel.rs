//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Tanh;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = tanh x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, tanh::parallel::tanh};
///
/// let mut y = [0.5f32; 3];
/// tanh(&Cpu::new(2), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn tanh<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Tanh) {
        plain::tanh(cpu, x, y, shape);
    }
}
