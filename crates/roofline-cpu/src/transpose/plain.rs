//! The definition: columns of x become rows of y.

use crate::{Cpu, Datum, Rows};

/// y \[cols, rows\] from x \[rows, cols\].
///
/// ```
/// use roofline_cpu::{Cpu, Rows, transpose::plain::transpose};
///
/// let mut y = [0; 6];
/// transpose(&Cpu::serial(), &[1, 2, 3, 4, 5, 6], &mut y, Rows { rows: 2, cols: 3 });
/// assert_eq!(y, [1, 4, 2, 5, 3, 6]);
/// ```
pub fn transpose<T: Datum>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    for (j, y) in y.chunks_mut(shape.rows.max(1)).enumerate() {
        for (i, y) in y.iter_mut().enumerate() {
            *y = x[i * shape.cols + j];
        }
    }
}
