//! The definition: one loop over the elements.

use crate::elementwise::zip;
use crate::{Cpu, Rows, Scalar};

/// z = x / y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, div::plain::div};
///
/// let mut z = [0.0; 3];
/// div(&Cpu::serial(), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [2.0, 4.0, 6.0]);
/// ```
pub fn div<T: Scalar>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    zip(x, y, z, shape, |x, y| x / y);
}
