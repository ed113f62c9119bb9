//! The vector kernel on all threads: each takes groups of its own, or its part of the only one.

use super::vector::{E4m3, E5m2};
use crate::quantize::vector::by_groups;
use crate::{Cpu, Element, Fp8E4m3, Fp8E5m2, Rows};

/// Codes q = round(x / s) and the scale s = max|x| / 448 of each `block` elements of a row; of zeros it is 1.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Rows, quantize_fp8};
///
/// let (mut q, mut s) = ([Fp8E4m3(0); 4], [0.0; 2]);
/// let x = [224.0f32, -8.5, 0.0, 0.0];
/// quantize_fp8(&Cpu::new(2), &x, &mut q, &mut s, Rows { rows: 2, cols: 2 }, 2);
/// assert_eq!((q.map(Fp8E4m3::to_f32), s), ([448.0, -16.0, 0.0, 0.0], [0.5, 1.0]));
/// ```
pub fn quantize_fp8<T: Element>(
    cpu: &Cpu,
    x: &[T],
    q: &mut [Fp8E4m3],
    s: &mut [f32],
    shape: Rows,
    block: usize,
) {
    by_groups(&cpu.pool, cpu, x, q, s, shape, block, E4m3);
}

/// The same in fp8-e5m2, with s = max|x| / 57344.
pub fn quantize_fp8_e5m2<T: Element>(
    cpu: &Cpu,
    x: &[T],
    q: &mut [Fp8E5m2],
    s: &mut [f32],
    shape: Rows,
    block: usize,
) {
    by_groups(&cpu.pool, cpu, x, q, s, shape, block, E5m2);
}
