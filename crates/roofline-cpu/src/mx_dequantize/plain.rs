//! The definition: a product for each element.

use crate::mx_quantize::{BLOCK, NV_BLOCK};
use crate::{Cpu, Fp8E4m3, Rows, Scalar, fp4};

/// y = q·s, codes in fp8-e4m3 and the bytes of powers of two, one for each 32 elements of a row.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Rows, mx_dequantize};
///
/// let mut y = [0.0f32; 2];
/// let q = [448.0, -0.5].map(Fp8E4m3::from_f32);
/// mx_dequantize(&Cpu::serial(), &q, &[126], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [224.0, -0.25]);
/// ```
pub fn mx_dequantize<T: Scalar<Wide = f32>>(_cpu: &Cpu, q: &[Fp8E4m3], s: &[i8], y: &mut [T], shape: Rows) {
    by_blocks(q, s, y, shape, [BLOCK, BLOCK], |q, s, y| {
        for (q, y) in q.iter().zip(y) {
            *y = T::narrow(q.to_f32() * fp4::power(s as u8));
        }
    });
}

/// The same of codes in fp4-e2m1, two in a byte.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mx_dequantize_fp4};
///
/// let mut y = [0.0f32; 3];
/// mx_dequantize_fp4(&Cpu::serial(), &[0xf1u8 as i8, 0x3], &[126], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.25, -3.0, 0.75]);
/// ```
pub fn mx_dequantize_fp4<T: Scalar<Wide = f32>>(_cpu: &Cpu, q: &[i8], s: &[i8], y: &mut [T], shape: Rows) {
    by_blocks(q, s, y, shape, [BLOCK, BLOCK / 2], |q, s, y| in_pairs(q, y, fp4::power(s as u8)));
}

/// y = q·s·t, codes in fp4-e2m1, two in a byte, and scales in fp8-e4m3, one for each 16 elements of a row.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Rows, nvfp4_dequantize};
///
/// let mut y = [0.0f32; 3];
/// let s = [Fp8E4m3::from_f32(8.0)];
/// nvfp4_dequantize(&Cpu::serial(), &[0xf1u8 as i8, 0x3], &s, &[0.5], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [2.0, -24.0, 6.0]);
/// ```
pub fn nvfp4_dequantize<T: Scalar<Wide = f32>>(
    _cpu: &Cpu,
    q: &[i8],
    s: &[Fp8E4m3],
    t: &[f32],
    y: &mut [T],
    shape: Rows,
) {
    assert_eq!(t.len(), 1, "one scale of the tensor");
    by_blocks(q, s, y, shape, [NV_BLOCK, NV_BLOCK / 2], |q, s, y| in_pairs(q, y, s.to_f32() * t[0]));
}

/// Two codes a byte, the first in its low half.
fn in_pairs<T: Scalar<Wide = f32>>(q: &[i8], y: &mut [T], scale: f32) {
    for (q, pair) in q.iter().zip(y.chunks_mut(2)) {
        for (place, y) in pair.iter_mut().enumerate() {
            *y = T::narrow(fp4::decode(*q as u8 >> (4 * place)) * scale);
        }
    }
}

/// Codes, the scale and elements of every block, of so many elements and codes.
fn by_blocks<Q, S: Copy, T>(
    q: &[Q],
    s: &[S],
    y: &mut [T],
    shape: Rows,
    [elements, codes]: [usize; 2],
    each: impl Fn(&[Q], S, &mut [T]),
) {
    let (of_row, scales) = (shape.cols.div_ceil(elements / codes), shape.cols.div_ceil(elements));
    let lengths = [shape.rows * of_row, shape.rows * scales, shape.len()];
    assert!([q.len(), s.len(), y.len()] == lengths, "lengths for {shape:?} in blocks of {elements}");
    let rows = q.chunks(of_row.max(1)).zip(s.chunks(scales.max(1))).zip(y.chunks_mut(shape.cols.max(1)));
    for ((q, s), y) in rows {
        for ((q, s), y) in q.chunks(codes).zip(s).zip(y.chunks_mut(elements)) {
            each(q, *s, y);
        }
    }
}
