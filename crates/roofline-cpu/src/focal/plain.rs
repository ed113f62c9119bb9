//! The definition: one loop over the elements.

use crate::{Cpu, Float, Real, Rows, Scalar};

/// The focal loss of probabilities `p` of class 1, where the class is `t`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, focal::plain::focal};
///
/// let mut y = [0.0; 2];
/// focal(&Cpu::serial(), &[0.5, 0.5], &[1, 0], &mut y, Rows { rows: 1, cols: 2 }, 0.25, 2.0);
/// assert!((y[0] - 0.0625 * 2f64.ln()).abs() < 1e-12 && (y[1] - y[0]).abs() < 1e-12);
/// ```
pub fn focal<T: Scalar>(_cpu: &Cpu, p: &[T], t: &[i32], y: &mut [T], shape: Rows, alpha: f64, gamma: f64) {
    assert!([p.len(), t.len(), y.len()] == [shape.len(); 3], "lengths for {shape:?}");
    let (one, alpha, gamma) = (T::Wide::of(1.0), T::Wide::of(alpha), T::Wide::of(gamma));
    for ((p, t), y) in p.iter().zip(t).zip(y) {
        let p = if *t == 1 { p.wide() } else { one - p.wide() };
        *y = T::narrow(-alpha * (one - p).powf(gamma) * p.ln());
    }
}
