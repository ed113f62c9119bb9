//! The definition, row by row, the codes as `quantize` has them.

use crate::quantize::{Codes, plain::by_groups};
use crate::scratch::Scratch;
use crate::{Cpu, Rows, Scalar};

/// Codes q = round(y / s) of y = silu(gate) · up with a scale s of each row; inputs gate and up.
///
/// ```
/// use roofline_cpu::quantize::INT8;
/// use roofline_cpu::{Cpu, Rows, swiglu_quantize};
///
/// let (mut q, mut s) = ([0; 2], [0.0; 1]);
/// let (gate, up) = ([30.0f32, 30.0], [12.7, -3.0]);
/// swiglu_quantize(&Cpu::serial(), [&gate, &up], &mut q, &mut s, Rows { rows: 1, cols: 2 }, INT8);
/// assert_eq!((q, s), ([127, -30], [3.0]));
/// ```
pub fn swiglu_quantize<T: Scalar<Wide = f32>, Q>(
    _cpu: &Cpu,
    [gate, up]: [&[T]; 2],
    q: &mut [Q],
    s: &mut [f32],
    shape: Rows,
    codes: Codes<Q>,
) {
    assert!([gate.len(), up.len(), q.len()] == [shape.len(); 3], "lengths for {shape:?}");
    assert!(s.len() == shape.rows, "length of s for {shape:?}");
    let cols = shape.cols.max(1);
    let row = Rows { rows: 1, cols: shape.cols };
    let mut y = Scratch::<f32>::take(shape.cols);
    let outputs = q.chunks_mut(cols).zip(s.chunks_mut(1));
    for ((gate, up), (q, s)) in gate.chunks(cols).zip(up.chunks(cols)).zip(outputs) {
        for ((gate, up), y) in gate.iter().zip(up).zip(y.iter_mut()) {
            let gate = gate.wide();
            *y = gate / (1.0 + (-gate).exp()) * up.wide();
        }
        by_groups(&y[..], q, s, row, cols, codes.most, codes.code);
    }
}
