//! The vector loop on all threads, each on a part of its own.

use super::vector::copy_on;
use crate::scratch::Plain;
use crate::{Cpu, Datum, Rows};

/// y = x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, copy::parallel::copy};
///
/// let mut y = [0.0; 3];
/// copy(&Cpu::new(2), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0, 2.0, 3.0]);
/// ```
pub fn copy<T: Datum + Plain>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    copy_on(&cpu.pool, cpu, x, y, shape);
}
