//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Rows, Scalar};

/// y = eˣ.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, exponential::plain::exp};
///
/// let mut y = [0.0; 3];
/// exp(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0; 3]);
/// ```
pub fn exp<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| x.exp());
}
