//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Sin;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = sin x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sin::parallel::sin};
///
/// let mut y = [0.5f32; 3];
/// sin(&Cpu::new(2), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn sin<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Sin) {
        plain::sin(cpu, x, y, shape);
    }
}
