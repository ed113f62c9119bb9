//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Real, Rows, Scalar};

/// y = 1 / (1 + e⁻ˣ).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sigmoid::plain::sigmoid};
///
/// let mut y = [0.0; 3];
/// sigmoid(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.5; 3]);
/// ```
pub fn sigmoid<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| T::Wide::of(1.0) / (T::Wide::of(1.0) + (-x).exp()));
}
