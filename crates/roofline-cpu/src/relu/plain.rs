//! The definition: one loop over the elements.

use crate::{Cpu, Element, Rows};

/// y = max(x, 0).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, relu::plain::relu};
///
/// let mut y = [0.0; 3];
/// relu(&Cpu::serial(), &[-1.0, 0.0, 2.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0, 0.0, 2.0]);
/// ```
pub fn relu<T: Element>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    for (x, y) in x.iter().zip(y) {
        *y = T::from_f32(if x.to_f32() < 0.0 { 0.0 } else { x.to_f32() });
    }
}
