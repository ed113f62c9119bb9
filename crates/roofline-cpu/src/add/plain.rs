//! The definition: one loop over the elements.

use crate::{Cpu, Element, Rows};

/// z = x + y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add::plain::add};
///
/// let mut z = [0.0; 3];
/// add(&Cpu::serial(), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [1.5, 2.5, 3.5]);
/// ```
pub fn add<T: Element>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    super::check(x.len(), y.len(), z.len(), shape);
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        *z = T::from_f32(x.to_f32() + y.to_f32());
    }
}
