//! The definition, one row after the other.
//!
//! The sum of squares is taken in f64: squares of large f32 leave its range.

use super::EPSILON;
use crate::{Cpu, Element, Rows};

/// y = x / sqrt(mean(x²) + ε) · w for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, rms_norm::plain::rms_norm};
///
/// let mut y = [0.0; 2];
/// rms_norm(&Cpu::serial(), &[3.0, -3.0], &[1.0, 2.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert!((y[0] - 1.0).abs() < 1e-6 && (y[1] + 2.0).abs() < 1e-6);
/// ```
pub fn rms_norm<T: Element>(_cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows) {
    super::check(x.len(), w.len(), y.len(), shape);
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        normalize_row(x, w, y);
    }
}

/// One row, in f64 throughout.
pub(super) fn normalize_row<T: Element>(x: &[T], w: &[T], y: &mut [T]) {
    let wide = |x: &T| f64::from(x.to_f32());
    let mean = x.iter().map(|x| wide(x) * wide(x)).sum::<f64>() / x.len() as f64;
    let inverse = 1.0 / (mean + f64::from(EPSILON)).sqrt();
    for ((x, w), y) in x.iter().zip(w).zip(y) {
        *y = T::from_f32((wide(x) * inverse * wide(w)) as f32);
    }
}
