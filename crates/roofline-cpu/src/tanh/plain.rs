//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Rows, Scalar};

/// y = tanh x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, tanh};
///
/// let mut y = [0.5; 3];
/// tanh(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn tanh<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| x.tanh());
}
