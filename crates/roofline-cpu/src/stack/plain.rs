//! The definition: one after the other.

use crate::{Cpu, Datum, Rows};

/// z \[2, rows, cols\] from x and y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, stack};
///
/// let mut z = [0; 4];
/// stack(&Cpu::serial(), &[1, 2], &[3, 4], &mut z, Rows { rows: 1, cols: 2 });
/// assert_eq!(z, [1, 2, 3, 4]);
/// ```
pub fn stack<T: Datum>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    assert!([x.len(), y.len(), z.len()] == [1, 1, 2].map(|n| n * shape.len()), "lengths for {shape:?}");
    let (first, second) = z.split_at_mut(x.len());
    first.copy_from_slice(x);
    second.copy_from_slice(y);
}
