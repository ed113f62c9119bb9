//! What codes stand for, written out in f32, and the product of these by [`matmul`](crate::matmul).

use super::{BLOCK, apart, codes, raw};
use crate::matmul::matmul;
use crate::scratch::Scratch;
use crate::{Cpu, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q8_matmul::decoded::q8_matmul};
///
/// let mut q = [0; 64];
/// (q[0], q[31], q[32], q[33]) = (1, -2, 3, 100);
/// let (x, s, mut y) = ([1.0; 33], [2.0, 0.5].map(f16::from_f32), [0.0]);
/// q8_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 33 });
/// assert_eq!(y, [-0.5]);
/// ```
pub fn q8_matmul(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    multiplied(cpu, x, y, shape, apart(s, q, shape, BLOCK), codes);
}

/// The same, with the two bytes of each scale before its codes.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q8_matmul::decoded::q8_matmul_raw};
///
/// let mut w = [0; 34];
/// (w[1], w[33]) = (0x3c, -7);
/// let (x, mut y) = ([1.0; 32], [0.0]);
/// q8_matmul_raw(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [-7.0]);
/// ```
pub fn q8_matmul_raw(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    multiplied(cpu, x, y, shape, raw(w, shape, BLOCK), codes);
}

/// Y = X·Wᵀ, from the scale and the codes of each block of W, and what these stand for beside it.
pub(crate) fn multiplied<'a, W: Iterator<Item = f32>>(
    cpu: &Cpu,
    x: &[f32],
    y: &mut [f32],
    shape: Product,
    block: impl Fn(usize) -> (f16, &'a [i8]),
    numbers: fn(&'a [i8]) -> W,
) {
    let of_row = shape.k.div_ceil(BLOCK);
    let mut decoded = Scratch::take(shape.n * shape.k);
    for (row, decoded) in decoded.chunks_mut(shape.k.max(1)).enumerate() {
        // The last part of a row may be shorter than its block.
        for (b, decoded) in decoded.chunks_mut(BLOCK).enumerate() {
            let (scale, codes) = block(row * of_row + b);
            let scale = scale.to_f32();
            decoded.iter_mut().zip(numbers(codes)).for_each(|(decoded, number)| *decoded = scale * number);
        }
    }
    matmul(cpu, x, &decoded, y, shape);
}
