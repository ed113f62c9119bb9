//! The definition, row by row, in f64.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use crate::layer_norm::plain::normalize;
use crate::{Cpu, Real, Rows, Scalar};

/// gelu(layer-norm(x)) for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm_gelu};
///
/// let mut y = [1.0; 2];
/// layer_norm_gelu(&Cpu::serial(), &[1.0, 3.0], &[0.0; 2], &[0.0; 2], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [0.0; 2]);
/// ```
pub fn layer_norm_gelu<T: Scalar>(_cpu: &Cpu, x: &[T], w: &[T], b: &[T], y: &mut [T], shape: Rows, eps: f64) {
    assert!([w.len(), b.len()] == [shape.cols; 2], "lengths of w and b for {shape:?}");
    normalize(x, y, shape, eps, |j, x| {
        let x = x * w[j].wide().in_f64() + b[j].wide().in_f64();
        0.5 * x * (1.0 + Real::erf(x * FRAC_1_SQRT_2))
    });
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
    assert!([w.len(), b.len()] == [shape.cols; 2], "lengths of w and b for {shape:?}");
    normalize(x, y, shape, eps, |j, x| {
        let x = x * w[j].wide().in_f64() + b[j].wide().in_f64();
        0.5 * x * (1.0 + (FRAC_2_PI.sqrt() * (x + 0.044715 * x * x * x)).tanh())
    });
}
