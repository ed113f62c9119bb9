//! The definition, row by row, in f64.

use crate::{Cpu, Real, Rows, Scalar};

/// h = x + r and y = h / √(mean(h²) + eps) · w for each row; inputs x, r and w, outputs h and y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add_rms_norm};
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
    assert!([x.len(), r.len(), h.len(), y.len()] == [shape.len(); 4], "lengths for {shape:?}");
    assert!(w.len() == shape.cols, "length of w for {shape:?}");
    let cols = shape.cols.max(1);
    for ((x, r), (h, y)) in x.chunks(cols).zip(r.chunks(cols)).zip(h.chunks_mut(cols).zip(y.chunks_mut(cols)))
    {
        let sums = x.iter().zip(r).map(|(x, r)| (x.wide() + r.wide()).in_f64());
        let mean = sums.clone().map(|h| h * h).sum::<f64>() / cols as f64;
        let inverse = 1.0 / (mean + eps).sqrt();
        for ((sum, w), (h, y)) in sums.zip(w).zip(h.iter_mut().zip(y)) {
            *h = T::narrow(T::Wide::of(sum));
            *y = T::narrow(T::Wide::of(sum * inverse * w.wide().in_f64()));
        }
    }
}
