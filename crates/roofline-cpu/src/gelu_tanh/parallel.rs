//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::GeluTanh;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = ½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu_tanh::parallel::gelu_tanh};
///
/// let mut y = [0.5f32; 3];
/// gelu_tanh(&Cpu::new(2), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu_tanh<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, GeluTanh) {
        plain::gelu_tanh(cpu, x, y, shape);
    }
}
