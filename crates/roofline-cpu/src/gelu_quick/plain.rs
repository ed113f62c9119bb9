//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Real, Rows, Scalar};

/// y = x · sigmoid(1.702 · x).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu_quick};
///
/// let mut y = [0.5; 3];
/// gelu_quick(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu_quick<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| x / (T::Wide::of(1.0) + (T::Wide::of(-1.702) * x).exp()));
}
