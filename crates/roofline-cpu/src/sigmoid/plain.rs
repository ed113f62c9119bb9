//! The definition: one loop over the elements.

use crate::{Cpu, Element, Rows};

/// y = 1 / (1 + e⁻ˣ).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sigmoid::plain::sigmoid};
///
/// let mut y = [0.0; 3];
/// sigmoid(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.5; 3]);
/// ```
pub fn sigmoid<T: Element>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    for (x, y) in x.iter().zip(y) {
        *y = T::from_f32(1.0 / (1.0 + (-x.to_f32()).exp()));
    }
}
