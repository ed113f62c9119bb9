//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Real, Rows, Scalar};

/// y = scalar · x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, scale};
///
/// let mut y = [0.0; 3];
/// scale(&Cpu::serial(), &[1.0, 2.0, 4.0], &mut y, Rows { rows: 1, cols: 3 }, 2.5);
/// assert_eq!(y, [2.5, 5.0, 10.0]);
/// ```
pub fn scale<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, scalar: f64) {
    let scalar = T::Wide::of(scalar);
    map(x, y, shape, |x| x * scalar);
}
