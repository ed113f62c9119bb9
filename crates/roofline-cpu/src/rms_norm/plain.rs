//! The definition, one row after the other.
//!
//! The sum of squares is taken in f64: squares of large f32 leave its range.

use crate::{Cpu, Real, Rows, Scalar};

/// y = x / sqrt(mean(x²) + eps) · w for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, rms_norm::plain::rms_norm};
///
/// let mut y = [0.0f32; 2];
/// rms_norm(&Cpu::serial(), &[3.0, -3.0], &[1.0, 2.0], &mut y, Rows { rows: 1, cols: 2 }, 1e-6);
/// assert!((y[0] - 1.0).abs() < 1e-6 && (y[1] + 2.0).abs() < 1e-6);
/// ```
pub fn rms_norm<T: Scalar>(_cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    super::check(x.len(), w.len(), y.len(), shape);
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        normalize_row(x, w, y, eps, |w| w);
    }
}

/// One row, in f64 throughout; `weight` is what a number of `w` stands for.
pub(super) fn normalize_row<T: Scalar>(x: &[T], w: &[T], y: &mut [T], eps: f64, weight: impl Fn(f64) -> f64) {
    let wide = |x: &T| x.wide().in_f64();
    let mean = x.iter().map(|x| wide(x) * wide(x)).sum::<f64>() / x.len() as f64;
    let inverse = 1.0 / (mean + eps).sqrt();
    for ((x, w), y) in x.iter().zip(w).zip(y) {
        *y = T::narrow(T::Wide::of(wide(x) * inverse * weight(wide(w))));
    }
}
