//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Real, Rows, Scalar};

/// y = x ^ exponent.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, pow_scalar};
///
/// let mut y = [0.0; 3];
/// pow_scalar(&Cpu::serial(), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 }, 2.0);
/// assert_eq!(y, [1.0, 4.0, 9.0]);
/// ```
pub fn pow_scalar<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, exponent: f64) {
    let power = T::Wide::of(exponent);
    map(x, y, shape, |x| if exponent == 2.0 { x * x } else { x.powf(power) });
}
