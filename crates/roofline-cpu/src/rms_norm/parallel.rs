//! The vector kernel on all threads, whole rows each.

use super::vector::NormalizeRows;
use crate::{Cpu, Element, Rows};

/// Elements that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// y = x / sqrt(mean(x²) + eps) · w for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, rms_norm::parallel::rms_norm};
///
/// let mut y = [0.0; 2];
/// rms_norm(&Cpu::new(2), &[3.0, -3.0], &[1.0, 2.0], &mut y, Rows { rows: 1, cols: 2 }, 1e-6);
/// assert!((y[0] - 1.0).abs() < 1e-6 && (y[1] + 2.0).abs() < 1e-6);
/// ```
pub fn rms_norm<T: Element>(cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    on_threads(cpu, x, w, y, shape, eps, 0.0);
}

/// The same with weights that are so much more than `w`.
pub(super) fn on_threads<T: Element>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    y: &mut [T],
    shape: Rows,
    eps: f64,
    more: f32,
) {
    super::check(x.len(), w.len(), y.len(), shape);
    let streamed = cpu.streams(2 * size_of_val(x));
    cpu.pool.run_pieces(y, shape.cols, PIECE, |offset, y| {
        let x = &x[offset..][..y.len()];
        cpu.isa.run(NormalizeRows { x, w, y, eps, more, streamed });
    });
}
