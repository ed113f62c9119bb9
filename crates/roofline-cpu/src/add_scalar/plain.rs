//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Real, Rows, Scalar};

/// y = x + scalar.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add_scalar};
///
/// let mut y = [0.0; 3];
/// add_scalar(&Cpu::serial(), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 }, 2.5);
/// assert_eq!(y, [3.5, 4.5, 5.5]);
/// ```
pub fn add_scalar<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, scalar: f64) {
    let scalar = T::Wide::of(scalar);
    map(x, y, shape, |x| x + scalar);
}
