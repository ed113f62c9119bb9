//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Gelu;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = ½ · x · (1 + erf(x / √2)).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu::parallel::gelu};
///
/// let mut y = [0.5f32; 3];
/// gelu(&Cpu::new(2), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Gelu) {
        plain::gelu(cpu, x, y, shape);
    }
}
