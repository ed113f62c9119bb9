//! The definition, row by row: the norm as `add-rms-norm` has it, the codes as `quantize` has them.

use crate::add_rms_norm::plain::norm_row;
use crate::quantize::{Codes, plain::by_groups};
use crate::scratch::Scratch;
use crate::{Cpu, Rows, Scalar};

/// h = x + r, and codes q = round(y / s) of y = h / √(mean(h²) + eps) · w with a scale s of each row; inputs x, r and w,
/// outputs h, then q and s.
///
/// ```
/// use roofline_cpu::quantize::INT8;
/// use roofline_cpu::{Cpu, Rows, add_rms_norm_quantize};
///
/// let (mut h, mut q, mut s) = ([0.0f32; 2], [0; 2], [0.0; 1]);
/// let (x, r, w) = ([1.0, -2.0], [2.0, -1.0], [127.0, 254.0]);
/// let shape = Rows { rows: 1, cols: 2 };
/// add_rms_norm_quantize(&Cpu::serial(), [&x, &r, &w], &mut h, (&mut q, &mut s), shape, 0.0, INT8);
/// assert_eq!((h, q, s), ([3.0, -3.0], [64, -127], [2.0]));
/// ```
pub fn add_rms_norm_quantize<T: Scalar<Wide = f32>, Q>(
    _cpu: &Cpu,
    [x, r, w]: [&[T]; 3],
    h: &mut [T],
    (q, s): (&mut [Q], &mut [f32]),
    shape: Rows,
    eps: f64,
    codes: Codes<Q>,
) {
    assert!([x.len(), r.len(), h.len(), q.len()] == [shape.len(); 4], "lengths for {shape:?}");
    assert!([w.len(), s.len()] == [shape.cols, shape.rows], "lengths for {shape:?}");
    let cols = shape.cols.max(1);
    let row = Rows { rows: 1, cols: shape.cols };
    let mut y = Scratch::<f32>::take(shape.cols);
    let inputs = x.chunks(cols).zip(r.chunks(cols));
    let outputs = h.chunks_mut(cols).zip(q.chunks_mut(cols)).zip(s.chunks_mut(1));
    for ((x, r), ((h, q), s)) in inputs.zip(outputs) {
        norm_row([x, r, w], h, eps, |i, normed| y[i] = normed as f32);
        by_groups(&y[..], q, s, row, cols, codes.most, codes.code);
    }
}
