//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Real, Rows, Scalar};

/// y = x / (1 + e⁻ˣ).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, silu::plain::silu};
///
/// let mut y = [0.0; 3];
/// silu(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn silu<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| x / (T::Wide::of(1.0) + (-x).exp()));
}
