//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Exp;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = eˣ.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, exponential::parallel::exp};
///
/// let mut y = [0.0f32; 3];
/// exp(&Cpu::new(2), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0; 3]);
/// ```
pub fn exp<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Exp) {
        plain::exp(cpu, x, y, shape);
    }
}
