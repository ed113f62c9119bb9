//! Softmax over each column of each matrix, by its definition.

use crate::softmax::columns::softmax_columns;
use crate::{Cpu, Rows, Scalar};

/// Softmax over the middle dimension of `x`, whose shape is \[outer, length, inner\].
///
/// ```
/// use roofline_cpu::{Cpu, softmax_axis::plain::softmax_axis};
///
/// let mut y = [0.0; 4];
/// softmax_axis(&Cpu::serial(), &[0.0, 0.0, 7.0, f64::NEG_INFINITY], &mut y, [2, 2, 1]);
/// assert_eq!(y, [0.5, 0.5, 1.0, 0.0]);
/// ```
pub fn softmax_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    let [outer, length, inner] = shape;
    assert!([x.len(), y.len()] == [outer * length * inner; 2], "lengths for {shape:?}");
    let matrix = Rows { rows: length, cols: inner };
    for (x, y) in x.chunks_exact(matrix.len().max(1)).zip(y.chunks_exact_mut(matrix.len().max(1))) {
        softmax_columns(cpu, x, y, matrix);
    }
}
