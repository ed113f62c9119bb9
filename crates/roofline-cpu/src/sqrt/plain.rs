//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Rows, Scalar};

/// y = √x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sqrt};
///
/// let mut y = [0.5; 3];
/// sqrt(&Cpu::serial(), &[1.0, 4.0, 9.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0, 2.0, 3.0]);
/// ```
pub fn sqrt<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| x.sqrt());
}
