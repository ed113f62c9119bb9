//! The definition: one copy after the other.

use crate::{Cpu, Datum, Rows};

/// y \[copies, rows, cols\] from x \[rows, cols\].
///
/// ```
/// use roofline_cpu::{Cpu, Rows, expand};
///
/// let mut y = [0; 4];
/// expand(&Cpu::serial(), &[1, 2], &mut y, Rows { rows: 1, cols: 2 }, 2);
/// assert_eq!(y, [1, 2, 1, 2]);
/// ```
pub fn expand<T: Datum>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, copies: usize) {
    assert!([x.len(), y.len()] == [shape.len(), copies * shape.len()], "lengths for {shape:?}");
    for y in y.chunks_mut(x.len().max(1)) {
        y.copy_from_slice(x);
    }
}
