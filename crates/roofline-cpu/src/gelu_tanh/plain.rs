//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Float, Real, Rows, Scalar};

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
    let (half, one) = (T::Wide::of(0.5), T::Wide::of(1.0));
    map(x, y, shape, |x| {
        let inner = T::Wide::of(0.797_884_560_802_865_4) * (x + T::Wide::of(0.044715) * x * x * x);
        half * x * (one + inner.tanh())
    });
}
