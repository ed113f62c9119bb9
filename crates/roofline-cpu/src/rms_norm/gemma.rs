//! RMS norm as Gemma has it: the weight is 1 + w.

use super::plain::normalize_row;
use crate::{Cpu, Rows, Scalar};

/// y = x / √(mean(x²) + eps) · (1 + w) for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, rms_norm_gemma};
///
/// let mut y = [0.0; 2];
/// rms_norm_gemma(&Cpu::serial(), &[3.0, -3.0], &[0.0, 1.0], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [1.0, -2.0]);
/// ```
pub fn rms_norm_gemma<T: Scalar>(_cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    super::check(x.len(), w.len(), y.len(), shape);
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        normalize_row(x, w, y, eps, |w| 1.0 + w);
    }
}
