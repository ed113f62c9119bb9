//! The definition: a product for each element.

use crate::{Cpu, Rows, Scalar};

/// y = q·s, with a scale for each `block` elements of a row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dequantize};
///
/// let mut y = [0.0f32; 4];
/// dequantize(&Cpu::serial(), &[127, -2, 3, 0], &[0.5, 2.0], &mut y, Rows { rows: 2, cols: 2 }, 2);
/// assert_eq!(y, [63.5, -1.0, 6.0, 0.0]);
/// ```
pub fn dequantize<T: Scalar<Wide = f32>>(
    _cpu: &Cpu,
    q: &[i8],
    s: &[f32],
    y: &mut [T],
    shape: Rows,
    block: usize,
) {
    let of_row = shape.cols.div_ceil(block.max(1));
    let lengths = [shape.len(), shape.rows * of_row, shape.len()];
    assert!([q.len(), s.len(), y.len()] == lengths, "lengths for {shape:?} in blocks of {block}");
    let rows = q.chunks(shape.cols.max(1)).zip(y.chunks_mut(shape.cols.max(1)));
    let groups = rows.flat_map(|(q, y)| q.chunks(block.max(1)).zip(y.chunks_mut(block.max(1))));
    for ((q, y), s) in groups.zip(s) {
        for (q, y) in q.iter().zip(y) {
            *y = T::narrow(f32::from(*q) * s);
        }
    }
}
