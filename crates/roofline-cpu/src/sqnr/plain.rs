//! The definition, row by row, in f64.

use crate::{Rows, Scalar};

/// y = 10 · log10(Σx² / Σ(x − s·q)²) for each row.
///
/// ```
/// use roofline_cpu::{Rows, sqnr};
///
/// // A tenth of each value is left: a hundredth of its power.
/// let mut y = [0.0];
/// sqnr(&[10.0f32, -20.0], &[9, -18], &[1.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [20.0]);
/// ```
pub fn sqnr<T: Scalar<Wide = f32>>(x: &[T], q: &[i8], s: &[f32], y: &mut [f32], shape: Rows) {
    assert!([x.len(), q.len()] == [shape.len(); 2], "lengths for {shape:?}");
    assert!([s.len(), y.len()] == [shape.rows; 2], "lengths for {shape:?}");
    let cols = shape.cols.max(1);
    for ((x, q), (s, y)) in x.chunks(cols).zip(q.chunks(cols)).zip(s.iter().zip(y)) {
        let (mut signal, mut noise) = (0.0, 0.0);
        for (x, q) in x.iter().zip(q) {
            let x = f64::from(x.wide());
            let left = x - f64::from(*s) * f64::from(*q);
            signal += x * x;
            noise += left * left;
        }
        *y = (10.0 * (signal / noise).log10()) as f32;
    }
}
