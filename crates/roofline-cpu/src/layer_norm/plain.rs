//! The definition, row by row, in f64.

use crate::{Cpu, Real, Rows, Scalar};

/// y = (x − mean) / √(variance + eps) · w + b for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm::plain::layer_norm};
///
/// let mut y = [0.0; 2];
/// layer_norm(&Cpu::serial(), &[1.0, 3.0], &[1.0; 2], &[5.0; 2], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [4.0, 6.0]);
/// ```
pub fn layer_norm<T: Scalar>(_cpu: &Cpu, x: &[T], w: &[T], b: &[T], y: &mut [T], shape: Rows, eps: f64) {
    layer_norm_with(x, w, b, y, shape, eps, |x| x);
}

/// The same, and `finish` applied to each element.
#[track_caller]
pub(crate) fn layer_norm_with<T: Scalar>(
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
    shape: Rows,
    eps: f64,
    finish: fn(f64) -> f64,
) {
    assert!([w.len(), b.len()] == [shape.cols; 2], "lengths of w and b for {shape:?}");
    normalize(x, y, shape, eps, |j, x| finish(x * w[j].wide().in_f64() + b[j].wide().in_f64()));
}

/// y = (x − mean) / √(variance + eps) for each row of `x`.
pub fn layer_norm_plain<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, eps: f64) {
    normalize(x, y, shape, eps, |_, x| x);
}

/// Each row normalised, and `finish` applied to its elements, with their column.
#[track_caller]
fn normalize<T: Scalar>(x: &[T], y: &mut [T], shape: Rows, eps: f64, finish: impl Fn(usize, f64) -> f64) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        normalize_row(x, y, eps, &finish);
    }
}

/// One row of it.
pub(crate) fn normalize_row<T: Scalar>(x: &[T], y: &mut [T], eps: f64, finish: impl Fn(usize, f64) -> f64) {
    let wide = x.iter().map(|x| x.wide().in_f64());
    let mean = wide.clone().sum::<f64>() / x.len() as f64;
    let variance = wide.clone().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64;
    let inverse = 1.0 / (variance + eps).sqrt();
    for (j, (x, y)) in wide.zip(y).enumerate() {
        *y = T::narrow(T::Wide::of(finish(j, (x - mean) * inverse)));
    }
}
