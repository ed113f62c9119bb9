//! The definition: one token after the other.

use crate::{Cpu, Real, Rows, Scalar};

/// y\[i\] = Σ w\[i, j\] · x\[place\[i, j\]\], for as many j as `w` has for each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, moe_combine};
///
/// // One token of two experts.
/// let mut y = [0.0; 1];
/// moe_combine(&Cpu::serial(), &[3.0, 5.0], &[0.5, 2.0], &[1, 0], &mut y, Rows { rows: 1, cols: 1 });
/// assert_eq!(y, [8.5]);
/// ```
pub fn moe_combine<T: Scalar>(_cpu: &Cpu, x: &[T], w: &[T], place: &[i32], y: &mut [T], shape: Rows) {
    let Rows { rows, cols } = shape;
    let top = w.len() / rows.max(1);
    let lengths = [x.len(), w.len(), place.len(), y.len()];
    assert!(lengths == [rows * top * cols, rows * top, rows * top, rows * cols], "lengths for {shape:?}");
    let experts = w.chunks(top.max(1)).zip(place.chunks(top.max(1)));
    for (y, (w, place)) in y.chunks_mut(cols.max(1)).zip(experts) {
        for (column, y) in y.iter_mut().enumerate() {
            let terms = w.iter().zip(place).map(|(w, at)| w.wide() * x[*at as usize * cols + column].wide());
            *y = T::narrow(terms.fold(T::Wide::of(0.0), |sum, term| sum + term));
        }
    }
}
