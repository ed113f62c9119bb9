//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Rows, Scalar};

/// y = ln x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, log};
///
/// let mut y = [0.5; 3];
/// log(&Cpu::serial(), &[1.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn log<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| x.ln());
}
