//! The definition: one loop over the elements.

use crate::{Cpu, Element, Rows};

/// z = x - y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sub::plain::sub};
///
/// let mut z = [0.0; 3];
/// sub(&Cpu::serial(), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [0.5, 1.5, 2.5]);
/// ```
pub fn sub<T: Element>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    assert!([x.len(), y.len(), z.len()] == [shape.len(); 3], "lengths for {shape:?}");
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        *z = T::from_f32(x.to_f32() - y.to_f32());
    }
}
