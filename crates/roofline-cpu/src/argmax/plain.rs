//! The definition: the first of the largest.

use crate::{Cpu, Float, Rows, Scalar};

/// The place of the first largest element of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, argmax};
///
/// let mut y = [0; 2];
/// argmax(&Cpu::serial(), &[1.0, 2.0, 7.0, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [1, 0]);
/// ```
pub fn argmax<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [i32], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(), shape.rows], "lengths for {shape:?}");
    for (x, y) in x.chunks(shape.cols.max(1)).zip(y) {
        let mut best = 0;
        for (index, x_here) in x.iter().enumerate() {
            let (here, most) = (x_here.wide(), x[best].wide());
            if here > most || here.is_nan() && !most.is_nan() {
                best = index;
            }
        }
        *y = best as i32;
    }
}
