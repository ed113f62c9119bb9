//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Rows, Scalar};

/// y = cos x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cos};
///
/// let mut y = [0.5; 3];
/// cos(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0; 3]);
/// ```
pub fn cos<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| x.cos());
}
