//! The definition: one row copied after the other.

use crate::{Cpu, Datum, Rows};

/// The rows of the table `x` whose numbers are in `t`.
///
/// Panics where a number is none of the table's.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, embedding};
///
/// let mut y = [0; 4];
/// embedding(&Cpu::serial(), &[1, 2, 3, 4, 5, 6], &[2, 0], &mut y, Rows { rows: 3, cols: 2 });
/// assert_eq!(y, [5, 6, 1, 2]);
/// ```
pub fn embedding<T: Datum>(_cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], table: Rows) {
    let cols = table.cols;
    assert!([x.len(), y.len()] == [table.len(), t.len() * cols], "lengths for a table of {table:?}");
    for (t, y) in t.iter().zip(y.chunks_mut(cols.max(1))) {
        y.copy_from_slice(&x[*t as usize * cols..][..cols]);
    }
}
