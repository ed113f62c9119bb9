//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Real, Rows, Scalar};

/// y = x / scalar.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, div_scalar};
///
/// let mut y = [0.0; 3];
/// div_scalar(&Cpu::serial(), &[2.5, 5.0, 10.0], &mut y, Rows { rows: 1, cols: 3 }, 2.5);
/// assert_eq!(y, [1.0, 2.0, 4.0]);
/// ```
pub fn div_scalar<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, scalar: f64) {
    let scalar = T::Wide::of(scalar);
    map(x, y, shape, |x| x / scalar);
}
