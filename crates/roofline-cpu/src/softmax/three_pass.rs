//! The definition, in three passes over each row: the largest element, the
//! sum of the exponentials, the quotients.

use crate::{Cpu, Element, Rows};

/// Softmax of each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax::three_pass::softmax};
///
/// let mut y = [0.0; 4];
/// softmax(&Cpu::serial(), &[0.0, 0.0, 7.0, f32::NEG_INFINITY], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.5, 0.5, 1.0, 0.0]);
/// ```
pub fn softmax<T: Element>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    super::check(x.len(), y.len(), shape);
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        // `f32::max` ignores NaN; it comes back through the sum.
        let largest = x.iter().fold(f32::NEG_INFINITY, |max, x| max.max(x.to_f32()));
        let sum: f32 = x.iter().map(|x| (x.to_f32() - largest).exp()).sum();
        for (x, y) in x.iter().zip(y) {
            *y = T::from_f32((x.to_f32() - largest).exp() / sum);
        }
    }
}
