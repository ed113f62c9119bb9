//! RMS norm as Gemma has it: the weight is 1 + w. The rungs are those of the other form, with weights of one more.

use super::parallel;
use super::plain::normalize_row;
use super::vector::NormalizeRows;
use crate::{Cpu, Element, Rows, Scalar};

/// y = x / √(mean(x²) + eps) · (1 + w) for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, rms_norm::gemma::plain};
///
/// let mut y = [0.0; 2];
/// plain(&Cpu::serial(), &[3.0, -3.0], &[0.0, 1.0], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [1.0, -2.0]);
/// ```
pub fn plain<T: Scalar>(_cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    super::check(x.len(), w.len(), y.len(), shape);
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        normalize_row(x, w, y, eps, |w| 1.0 + w);
    }
}

/// The same by two passes in lanes.
pub fn vector<T: Element>(cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    super::check(x.len(), w.len(), y.len(), shape);
    let streamed = cpu.streams(2 * size_of_val(x));
    cpu.isa.run(NormalizeRows { x, w, y, eps, more: 1.0, streamed });
}

/// The same, rows on all threads.
pub fn parallel<T: Element>(cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    parallel::on_threads(cpu, x, w, y, shape, eps, 1.0);
}
