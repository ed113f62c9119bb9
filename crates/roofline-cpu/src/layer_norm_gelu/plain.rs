//! The definition, row by row, in f64.

use crate::layer_norm::plain::layer_norm_with;
use crate::{Cpu, Rows, Scalar, gelu, gelu_tanh};

/// gelu(layer-norm(x)) for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm_gelu::plain::layer_norm_gelu};
///
/// let mut y = [1.0; 2];
/// layer_norm_gelu(&Cpu::serial(), &[1.0, 3.0], &[0.0; 2], &[0.0; 2], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [0.0; 2]);
/// ```
pub fn layer_norm_gelu<T: Scalar>(_cpu: &Cpu, x: &[T], w: &[T], b: &[T], y: &mut [T], shape: Rows, eps: f64) {
    layer_norm_with(x, w, b, y, shape, eps, gelu::plain::formula);
}

/// The same with the gelu of the hyperbolic tangent.
pub fn layer_norm_gelu_tanh<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
    shape: Rows,
    eps: f64,
) {
    layer_norm_with(x, w, b, y, shape, eps, gelu_tanh::plain::formula);
}
