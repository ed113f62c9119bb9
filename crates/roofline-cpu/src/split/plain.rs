//! The definition, row after row.

use crate::{Cpu, Datum, Rows};

/// y \[rows, cols\] and z \[rows, more\] from x \[rows, cols + more\].
///
/// ```
/// use roofline_cpu::{Cpu, Rows, split};
///
/// let (mut y, mut z) = ([0; 4], [0; 2]);
/// split(&Cpu::serial(), &[1, 2, 8, 3, 4, 9], &mut y, &mut z, Rows { rows: 2, cols: 2 }, 1);
/// assert_eq!((y, z), ([1, 2, 3, 4], [8, 9]));
/// ```
pub fn split<T: Datum>(_cpu: &Cpu, x: &[T], y: &mut [T], z: &mut [T], shape: Rows, more: usize) {
    let Rows { rows, cols } = shape;
    let lengths = [rows * (cols + more), rows * cols, rows * more];
    assert!([x.len(), y.len(), z.len()] == lengths, "lengths for {shape:?} and {more} more");
    for (i, x) in x.chunks((cols + more).max(1)).enumerate() {
        y[i * cols..][..cols].copy_from_slice(&x[..cols]);
        z[i * more..][..more].copy_from_slice(&x[cols..]);
    }
}
