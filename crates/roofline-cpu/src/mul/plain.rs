//! The definition: one loop over the elements.

use crate::elementwise::zip;
use crate::{Cpu, Rows, Scalar};

/// z = x · y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mul};
///
/// let mut z = [0.0; 3];
/// mul(&Cpu::serial(), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [0.5, 1.0, 1.5]);
/// ```
pub fn mul<T: Scalar>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    zip(x, y, z, shape, |x, y| x * y);
}
