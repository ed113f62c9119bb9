//! The definition: a product for each element.

use crate::{Cpu, Fp8E4m3, Rows, Scalar};

/// y = q·s, with a scale for each `block` elements of a row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dequantize::plain::dequantize};
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
    by_groups(q, s, y, shape, block, |q| f32::from(*q));
}

/// The same of codes in fp8-e4m3.
pub fn dequantize_fp8<T: Scalar<Wide = f32>>(
    _cpu: &Cpu,
    q: &[Fp8E4m3],
    s: &[f32],
    y: &mut [T],
    shape: Rows,
    block: usize,
) {
    by_groups(q, s, y, shape, block, |q| q.to_f32());
}

/// y = (q − z)·s, with a scale and a code of zero for each row; the difference is one of integers.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dequantize::plain::dequantize_u8};
///
/// let mut y = [0.0f32; 4];
/// let shape = Rows { rows: 2, cols: 2 };
/// dequantize_u8(&Cpu::serial(), &[255, 3, 0, 7], &[0.5, 2.0], &[5, 7], &mut y, shape);
/// assert_eq!(y, [125.0, -1.0, -14.0, 0.0]);
/// ```
pub fn dequantize_u8<T: Scalar<Wide = f32>>(
    _cpu: &Cpu,
    q: &[u8],
    s: &[f32],
    z: &[u8],
    y: &mut [T],
    shape: Rows,
) {
    let lengths = [shape.len(), shape.rows, shape.rows, shape.len()];
    assert!([q.len(), s.len(), z.len(), y.len()] == lengths, "lengths for {shape:?}");
    let rows = q.chunks(shape.cols.max(1)).zip(y.chunks_mut(shape.cols.max(1)));
    for ((q, y), (s, z)) in rows.zip(s.iter().zip(z)) {
        for (q, y) in q.iter().zip(y) {
            *y = T::narrow((i32::from(*q) - i32::from(*z)) as f32 * s);
        }
    }
}

/// A product for each code, by the scale of its group.
fn by_groups<Q, T: Scalar<Wide = f32>>(
    q: &[Q],
    s: &[f32],
    y: &mut [T],
    shape: Rows,
    block: usize,
    code: impl Fn(&Q) -> f32,
) {
    let of_row = shape.cols.div_ceil(block.max(1));
    let lengths = [shape.len(), shape.rows * of_row, shape.len()];
    assert!([q.len(), s.len(), y.len()] == lengths, "lengths for {shape:?} in blocks of {block}");
    let rows = q.chunks(shape.cols.max(1)).zip(y.chunks_mut(shape.cols.max(1)));
    let groups = rows.flat_map(|(q, y)| q.chunks(block.max(1)).zip(y.chunks_mut(block.max(1))));
    for ((q, y), s) in groups.zip(s) {
        for (q, y) in q.iter().zip(y) {
            *y = T::narrow(code(q) * s);
        }
    }
}
