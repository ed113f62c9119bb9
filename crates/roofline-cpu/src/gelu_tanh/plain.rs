//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Real, Rows, Scalar};

/// y = ½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu_tanh};
///
/// let mut y = [0.5; 3];
/// gelu_tanh(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu_tanh<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, formula);
}

/// Of one number; the first factor is √(2/π).
pub(crate) fn formula<R: Real>(x: R) -> R {
    let inner = R::of(0.797_884_560_802_865_4) * (x + R::of(0.044715) * x * x * x);
    R::of(0.5) * x * (R::of(1.0) + inner.tanh())
}
