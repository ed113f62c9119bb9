//! The definition, row after row.

use crate::{Cpu, Datum, Rows};

/// z \[rows, cols + more\] from x \[rows, cols\] and y \[rows, more\].
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cat};
///
/// let mut z = [0; 6];
/// cat(&Cpu::serial(), &[1, 2, 3, 4], &[8, 9], &mut z, Rows { rows: 2, cols: 2 }, 1);
/// assert_eq!(z, [1, 2, 8, 3, 4, 9]);
/// ```
pub fn cat<T: Datum>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows, more: usize) {
    let Rows { rows, cols } = shape;
    let lengths = [rows * cols, rows * more, rows * (cols + more)];
    assert!([x.len(), y.len(), z.len()] == lengths, "lengths for {shape:?} and {more} more");
    for (i, z) in z.chunks_mut((cols + more).max(1)).enumerate() {
        z[..cols].copy_from_slice(&x[i * cols..][..cols]);
        z[cols..].copy_from_slice(&y[i * more..][..more]);
    }
}
