//! The vector kernel on all threads, whole rows each.
//!
//! Rows are independent, so threads share nothing; what is gained is the
//! memory bandwidth and the exponentials of the other cores.

use super::vector::SoftmaxRows;
use crate::{Cpu, Element, Rows};

/// Elements that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// Softmax of each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax::parallel::softmax};
///
/// let mut y = [0.0; 4];
/// softmax(&Cpu::new(2), &[0.0, 0.0, 7.0, f32::NEG_INFINITY], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.5, 0.5, 1.0, 0.0]);
/// ```
pub fn softmax<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    on_threads(cpu, x, y, shape, false);
}

/// The same, 0 throughout where all of a row is -∞.
pub fn softmax_masked<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    on_threads(cpu, x, y, shape, true);
}

fn on_threads<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, is_masked: bool) {
    super::check(x.len(), y.len(), shape);
    let streamed = cpu.streams(2 * size_of_val(x));
    let cols = shape.cols;
    cpu.pool.run_pieces(y, cols, PIECE, |offset, y| {
        let x = &x[offset..][..y.len()];
        cpu.isa.run(SoftmaxRows { x, y, cols, streamed, is_masked });
    });
}
