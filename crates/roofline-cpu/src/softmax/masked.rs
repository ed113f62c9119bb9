//! Softmax whose rows of -∞ only are 0, as attention wants them that sees nothing.

use super::three_pass;
use crate::{Cpu, Float, Rows, Scalar};

/// Softmax of each row of `x`; 0 throughout where all of it is -∞.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax::masked::softmax_masked};
///
/// let mut y = [1.0; 2];
/// softmax_masked(&Cpu::serial(), &[f64::NEG_INFINITY; 2], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [0.0; 2]);
/// ```
pub fn softmax_masked<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    three_pass::softmax(cpu, x, y, shape);
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        if x.iter().all(|x| x.wide() == T::Wide::neg_infinity()) {
            y.fill(T::default());
        }
    }
}
