//! The definition: the largest magnitude of each block, its scale, and a quotient for each element.

use super::{BLOCK, NV_BLOCK};
use crate::{Cpu, Fp8E4m3, Rows, Scalar, fp4};

/// Codes in fp8-e4m3 and the bytes of powers of two, one for each 32 elements of a row.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Rows, fp4, mx_quantize};
///
/// let (mut q, mut s) = ([Fp8E4m3(0); 3], [0]);
/// mx_quantize(&Cpu::serial(), &[3.9f32, -0.5, 0.0], &mut q, &mut s, Rows { rows: 1, cols: 3 });
/// assert_eq!(fp4::power(s[0] as u8), 1.0 / 128.0);
/// assert_eq!(q.map(Fp8E4m3::to_f32), [448.0, -64.0, 0.0]);
/// ```
pub fn mx_quantize<T: Scalar<Wide = f32>>(_cpu: &Cpu, x: &[T], q: &mut [Fp8E4m3], s: &mut [i8], shape: Rows) {
    by_blocks(x, q, s, shape, [BLOCK, BLOCK], |x, q, s| {
        let byte = fp4::scale(largest(x), 8);
        *s = byte as i8;
        for (x, q) in x.iter().zip(q) {
            let quotient = x.wide() / fp4::power(byte);
            *q = Fp8E4m3::from_f32(quotient.clamp(-Fp8E4m3::MAX, Fp8E4m3::MAX));
        }
    });
}

/// Codes in fp4-e2m1, two in a byte, and the bytes of powers of two, one for each 32 elements of a row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, fp4, mx_quantize_fp4};
///
/// let (mut q, mut s) = ([0; 2], [0]);
/// mx_quantize_fp4(&Cpu::serial(), &[12.0f32, -1.0, 5.0], &mut q, &mut s, Rows { rows: 1, cols: 3 });
/// assert_eq!(fp4::power(s[0] as u8), 2.0);
/// assert_eq!(q, [0x97u8 as i8, 0x4]);
/// ```
pub fn mx_quantize_fp4<T: Scalar<Wide = f32>>(_cpu: &Cpu, x: &[T], q: &mut [i8], s: &mut [i8], shape: Rows) {
    by_blocks(x, q, s, shape, [BLOCK, BLOCK / 2], |x, q, s| {
        let byte = fp4::scale(largest(x), 2);
        *s = byte as i8;
        in_pairs(x, q, |x| fp4::encode(x / fp4::power(byte)));
    });
}

/// Codes in fp4-e2m1, two in a byte, and scales in fp8-e4m3, one for each 16 elements of a row, beside the one of `t`.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Rows, nvfp4_quantize};
///
/// let (mut q, mut s) = ([0; 2], [Fp8E4m3(0)]);
/// nvfp4_quantize(&Cpu::serial(), &[12.0f32, -4.0, 5.0], &[0.5], &mut q, &mut s, Rows { rows: 1, cols: 3 });
/// assert_eq!((q, s[0].to_f32()), ([0xc7u8 as i8, 0x4], 4.0));
/// ```
pub fn nvfp4_quantize<T: Scalar<Wide = f32>>(
    _cpu: &Cpu,
    x: &[T],
    t: &[f32],
    q: &mut [i8],
    s: &mut [Fp8E4m3],
    shape: Rows,
) {
    assert_eq!(t.len(), 1, "one scale of the tensor");
    by_blocks(x, q, s, shape, [NV_BLOCK, NV_BLOCK / 2], |x, q, s| {
        *s = Fp8E4m3::from_f32((largest(x) / fp4::MAX / t[0]).min(Fp8E4m3::MAX));
        let scale = s.to_f32() * t[0];
        in_pairs(x, q, |x| if scale == 0.0 { 0 } else { fp4::encode(x / scale) });
    });
}

fn largest<T: Scalar<Wide = f32>>(x: &[T]) -> f32 {
    x.iter().fold(0.0, |most: f32, x| most.max(x.wide().abs()))
}

/// Two codes a byte, the first in its low half.
fn in_pairs<T: Scalar<Wide = f32>>(x: &[T], q: &mut [i8], code: impl Fn(f32) -> u8) {
    for (pair, q) in x.chunks(2).zip(q) {
        let high = pair.get(1).map_or(0, |x| code(x.wide()));
        *q = (code(pair[0].wide()) | high << 4) as i8;
    }
}

/// Elements, codes and the scale of every block, of so many elements and codes.
fn by_blocks<T, Q, S>(
    x: &[T],
    q: &mut [Q],
    s: &mut [S],
    shape: Rows,
    [elements, codes]: [usize; 2],
    each: impl Fn(&[T], &mut [Q], &mut S),
) {
    let (of_row, scales) = (shape.cols.div_ceil(elements / codes), shape.cols.div_ceil(elements));
    let lengths = [shape.len(), shape.rows * of_row, shape.rows * scales];
    assert!([x.len(), q.len(), s.len()] == lengths, "lengths for {shape:?} in blocks of {elements}");
    let rows = x.chunks(shape.cols.max(1)).zip(q.chunks_mut(of_row.max(1))).zip(s.chunks_mut(scales.max(1)));
    for ((x, q), s) in rows {
        for ((x, q), s) in x.chunks(elements).zip(q.chunks_mut(codes)).zip(s) {
            each(x, q, s);
        }
    }
}
