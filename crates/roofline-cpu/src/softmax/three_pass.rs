//! The definition, in three passes over each row: the largest element, the
//! sum of the exponentials, the quotients.

use crate::{Cpu, Float, Rows, Scalar};

/// Softmax of each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax::three_pass::softmax};
///
/// let mut y = [0.0; 4];
/// softmax(&Cpu::serial(), &[0.0, 0.0, 7.0, f64::NEG_INFINITY], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.5, 0.5, 1.0, 0.0]);
/// ```
pub fn softmax<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    super::check(x.len(), y.len(), shape);
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        // `max` ignores NaN; it comes back through the sum.
        let largest = x.iter().fold(T::Wide::neg_infinity(), |max, x| max.max(x.wide()));
        let sum: T::Wide = x.iter().map(|x| (x.wide() - largest).exp()).sum();
        for (x, y) in x.iter().zip(y) {
            *y = T::narrow((x.wide() - largest).exp() / sum);
        }
    }
}
