//! The definition: the sum of each block, times its scale, added up.

use super::{CODES, numbers};
use crate::q8_matmul::plain::multiplied;
use crate::q8_matmul::{apart, raw, rounded};
use crate::{Cpu, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q4_matmul::plain::q4_matmul};
///
/// // The code 8 stands for 0: 9 and 10 for elements 0 and 16, 11 for element 32.
/// let mut q = [0x88u8 as i8; 32];
/// (q[0], q[16]) = (0xa9u8 as i8, 0x8bu8 as i8);
/// let (x, s, mut y) = ([1.0; 33], [2.0, 0.5].map(f16::from_f32), [0.0]);
/// q4_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 33 });
/// assert_eq!(y, [2.0 * (1.0 + 2.0) + 0.5 * 3.0]);
/// ```
pub fn q4_matmul(_cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    multiplied(x, y, shape, apart(s, q, shape, CODES), numbers);
}

/// The same, with the two bytes of each scale before its codes.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q4_matmul::plain::q4_matmul_raw};
///
/// let mut w = [0x88u8 as i8; 18];
/// // The scale 1, low byte first, and the codes of elements 15 and 31.
/// (w[0], w[1], w[17]) = (0, 0x3c, 0x1f);
/// let (x, mut y) = ([1.0; 32], [0.0]);
/// q4_matmul_raw(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [7.0 - 7.0]);
/// ```
pub fn q4_matmul_raw(_cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    multiplied(x, y, shape, raw(w, shape, CODES), numbers);
}

/// Y = X·Wᵀ, where X becomes blocks of codes of eight bits first.
pub fn q4_matmul_rounded(_cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    rounded::multiplied(x, y, shape, apart(s, q, shape, CODES), numbers);
}

/// The same, with the two bytes of each scale before its codes.
pub fn q4_matmul_raw_rounded(_cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    rounded::multiplied(x, y, shape, raw(w, shape, CODES), numbers);
}
