//! Softmax over each column, by its definition.

use crate::reduce::Line;
use crate::{Cpu, Float, Rows, Scalar};

/// Softmax of each column of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax::columns::softmax_columns};
///
/// let mut y = [0.0; 4];
/// softmax_columns(&Cpu::serial(), &[0.0, 7.0, 0.0, f64::NEG_INFINITY], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.5, 1.0, 0.5, 0.0]);
/// ```
pub fn softmax_columns<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    super::check(x.len(), y.len(), shape);
    for j in 0..shape.cols {
        let line = Line::column(x, shape, j);
        let largest = line.largest();
        let sum: T::Wide = line.iter().map(|x| (x - largest).exp()).sum();
        for i in (j..x.len()).step_by(shape.cols) {
            y[i] = T::narrow((x[i].wide() - largest).exp() / sum);
        }
    }
}
