//! The definition, row by row, in f64.

use crate::{Cpu, Real, Rows, Scalar};

/// h = x + r and y = h / √(mean(h²) + eps) · w for each row; inputs x, r and w, outputs h and y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add_rms_norm::plain::add_rms_norm};
///
/// let (mut h, mut y) = ([0.0; 2], [0.0; 2]);
/// let shape = Rows { rows: 1, cols: 2 };
/// add_rms_norm(&Cpu::serial(), [&[1.0, -2.0], &[2.0, -1.0], &[1.0, 2.0]], [&mut h, &mut y], shape, 0.0);
/// assert_eq!((h, y), ([3.0, -3.0], [1.0, -2.0]));
/// ```
pub fn add_rms_norm<T: Scalar>(
    _cpu: &Cpu,
    [x, r, w]: [&[T]; 3],
    [h, y]: [&mut [T]; 2],
    shape: Rows,
    eps: f64,
) {
    super::check([x, r, w], [&*h, &*y], shape);
    let cols = shape.cols.max(1);
    for ((x, r), (h, y)) in x.chunks(cols).zip(r.chunks(cols)).zip(h.chunks_mut(cols).zip(y.chunks_mut(cols)))
    {
        norm_row([x, r, w], h, eps, |i, normed| y[i] = T::narrow(T::Wide::of(normed)));
    }
}

/// The sums of one row into h; their norms, times the weights, are handed over one by one.
pub(crate) fn norm_row<T: Scalar>(
    [x, r, w]: [&[T]; 3],
    h: &mut [T],
    eps: f64,
    mut write: impl FnMut(usize, f64),
) {
    let sums = x.iter().zip(r).map(|(x, r)| (x.wide() + r.wide()).in_f64());
    let mean = sums.clone().map(|h| h * h).sum::<f64>() / h.len() as f64;
    let inverse = 1.0 / (mean + eps).sqrt();
    for (i, ((sum, w), h)) in sums.zip(w).zip(h.iter_mut()).enumerate() {
        *h = T::narrow(T::Wide::of(sum));
        write(i, sum * inverse * w.wide().in_f64());
    }
}
