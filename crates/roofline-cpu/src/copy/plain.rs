//! The definition, by the system's own copy.

use crate::{Cpu, Datum, Rows};

/// y = x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, copy};
///
/// let mut y = [0.0; 3];
/// copy(&Cpu::serial(), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0, 2.0, 3.0]);
/// ```
pub fn copy<T: Datum>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    y.copy_from_slice(x);
}
