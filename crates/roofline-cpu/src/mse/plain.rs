//! The definition, its sum in halves.

use crate::elementwise::zip;
use crate::reduce::pairwise;
use crate::{Cpu, Real, Rows, Scalar};

/// The mean of (p − t)².
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mse::plain::mse};
///
/// let mut y = [0.0];
/// mse(&Cpu::serial(), &[1.0, 2.0], &[3.0, 2.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [2.0]);
/// ```
pub fn mse<T: Scalar>(_cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    y[0] = T::narrow(sum(p, t, y, shape) / T::Wide::of(shape.len() as f64));
}

/// The sum of (p − t)².
pub fn mse_sum<T: Scalar>(_cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    y[0] = T::narrow(sum(p, t, y, shape));
}

/// (p − t)² of each.
pub fn mse_none<T: Scalar>(_cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    zip(p, t, y, shape, |p, t| (p - t) * (p - t));
}

#[track_caller]
fn sum<T: Scalar>(p: &[T], t: &[T], y: &[T], shape: Rows) -> T::Wide {
    assert!([p.len(), t.len(), y.len()] == [shape.len(), shape.len(), 1], "lengths for {shape:?}");
    pairwise(0..p.len(), &|i| {
        let difference = p[i].wide() - t[i].wide();
        difference * difference
    })
}
