//! The vector kernel on all threads, each on rows of its own.

use super::vector::{E4m3, Int8, Uint8, by_groups};
use crate::bits8::Bits8;
use crate::{Cpu, Element, Fp8E4m3, Rows};

/// y = q·s, with a scale for each `block` elements of a row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dequantize};
///
/// let mut y = [0.0f32; 4];
/// dequantize(&Cpu::new(2), &[127, -2, 3, 0], &[0.5, 2.0], &mut y, Rows { rows: 2, cols: 2 }, 2);
/// assert_eq!(y, [63.5, -1.0, 6.0, 0.0]);
/// ```
pub fn dequantize<T: Element>(cpu: &Cpu, q: &[i8], s: &[f32], y: &mut [T], shape: Rows, block: usize) {
    by_groups(&cpu.pool, cpu, q, (s, &[]), y, shape, block, Int8);
}

/// The same of codes in fp8-e4m3.
pub fn dequantize_fp8<T: Element>(
    cpu: &Cpu,
    q: &[Fp8E4m3],
    s: &[f32],
    y: &mut [T],
    shape: Rows,
    block: usize,
) {
    by_groups(&cpu.pool, cpu, Bits8::bytes(q), (s, &[]), y, shape, block, E4m3);
}

/// y = (q − z)·s, with a scale and a code of zero for each row; the difference is one of integers.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dequantize_u8};
///
/// let mut y = [0.0f32; 4];
/// let shape = Rows { rows: 2, cols: 2 };
/// dequantize_u8(&Cpu::new(2), &[255, 3, 0, 7], &[0.5, 2.0], &[5, 7], &mut y, shape);
/// assert_eq!(y, [125.0, -1.0, -14.0, 0.0]);
/// ```
pub fn dequantize_u8<T: Element>(cpu: &Cpu, q: &[u8], s: &[f32], z: &[u8], y: &mut [T], shape: Rows) {
    assert_eq!(z.len(), shape.rows, "length of z for {shape:?}");
    by_groups(&cpu.pool, cpu, Bits8::bytes(q), (s, z), y, shape, shape.cols, Uint8);
}
