//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Rows, Scalar};

/// y = −x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, negate};
///
/// let mut y = [0.5; 3];
/// negate(&Cpu::serial(), &[1.0, -2.0, 0.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [-1.0, 2.0, 0.0]);
/// ```
pub fn negate<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| -x);
}
