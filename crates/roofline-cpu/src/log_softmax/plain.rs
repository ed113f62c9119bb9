//! The definition: the largest element, the logarithm of the sum, the differences.

use crate::reduce::Line;
use crate::{Cpu, Float, Rows, Scalar};

/// The logarithm of the softmax of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, log_softmax::plain::log_softmax};
///
/// let mut y = [0.0; 2];
/// log_softmax(&Cpu::serial(), &[7.0, 7.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [-(2f64.ln()); 2]);
/// ```
pub fn log_softmax<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        let (largest, log) = parts(Line::row(x));
        for (x, y) in x.iter().zip(y) {
            *y = T::narrow(x.wide() - largest - log);
        }
    }
}

/// The logarithm of the softmax of each column.
pub fn log_softmax_columns<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    for j in 0..shape.cols {
        let (largest, log) = parts(Line::column(x, shape, j));
        for i in (j..x.len()).step_by(shape.cols) {
            y[i] = T::narrow(x[i].wide() - largest - log);
        }
    }
}

/// The logarithm of the softmax of each column of each matrix of x\[outer, length, inner\].
pub fn log_softmax_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    let [outer, length, inner] = shape;
    assert!([x.len(), y.len()] == [outer * length * inner; 2], "lengths for {shape:?}");
    let matrix = Rows { rows: length, cols: inner };
    for (x, y) in x.chunks_exact(matrix.len().max(1)).zip(y.chunks_exact_mut(matrix.len().max(1))) {
        log_softmax_columns(cpu, x, y, matrix);
    }
}

/// The largest element, and the logarithm of the sum of exponentials around it.
pub(crate) fn parts<T: Scalar>(line: Line<'_, T>) -> (T::Wide, T::Wide) {
    let largest = line.largest();
    let sum: T::Wide = line.iter().map(|x| (x - largest).exp()).sum();
    (largest, sum.ln())
}
