//! The definition: the first of the largest.

use crate::reduce::Line;
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
        *y = place(Line::row(x));
    }
}

/// The place of the first largest element of each column.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, argmax::argmax_columns};
///
/// let mut y = [0; 2];
/// argmax_columns(&Cpu::serial(), &[1.0, 2.0, 7.0, 1.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [1, 0]);
/// ```
pub fn argmax_columns<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [i32], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(), shape.cols], "lengths for {shape:?}");
    for (column, y) in y.iter_mut().enumerate() {
        *y = place(Line::column(x, shape, column));
    }
}

fn place<T: Scalar>(line: Line<'_, T>) -> i32 {
    let larger = |best: (usize, T::Wide), here: (usize, T::Wide)| {
        if here.1 > best.1 || here.1.is_nan() && !best.1.is_nan() { here } else { best }
    };
    line.iter().enumerate().reduce(larger).map_or(0, |(place, _)| place as i32)
}
