//! The vector loop on all threads, each on a part of its own.

use super::plain;
use super::vector::Log;
use crate::elementwise::map_parallel;
use crate::{Cpu, Rows, Scalar};

/// y = ln x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, log::parallel::log};
///
/// let mut y = [0.5f32; 3];
/// log(&Cpu::new(2), &[1.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn log<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [x], y, shape, Log) {
        plain::log(cpu, x, y, shape);
    }
}
