//! The definition: one loop over the elements.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::elementwise::map;
use crate::{Cpu, Real, Rows, Scalar};

/// y = ½ · x · (1 + erf(x / √2)).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu};
///
/// let mut y = [0.5; 3];
/// gelu(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, formula);
}

/// Of one number.
pub(crate) fn formula<R: Real>(x: R) -> R {
    R::of(0.5) * x * (R::of(1.0) + Real::erf(x * R::of(FRAC_1_SQRT_2)))
}
