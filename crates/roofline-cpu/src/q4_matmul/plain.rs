//! The definition: the sum of each block, times its scale, added up.

use super::{CODES, RAW};
use crate::q8_matmul::BLOCK;
use crate::q8_matmul::plain::{multiplied, scale};
use crate::{Cpu, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q4_matmul};
///
/// // The code 8 stands for 0: 9 and 10 for elements 0 and 16, 11 for element 32.
/// let mut q = [0x88u8 as i8; 32];
/// (q[0], q[16]) = (0xa9u8 as i8, 0x8bu8 as i8);
/// let (x, s, mut y) = ([1.0; 33], [2.0, 0.5].map(f16::from_f32), [0.0]);
/// q4_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 33 });
/// assert_eq!(y, [2.0 * (1.0 + 2.0) + 0.5 * 3.0]);
/// ```
pub fn q4_matmul(_cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    let blocks = shape.n * shape.k.div_ceil(BLOCK);
    assert!([s.len(), q.len()] == [blocks, CODES * blocks], "lengths of s and q for {shape:?}");
    multiplied(x, y, shape, |block| (s[block], numbers(&q[block * CODES..][..CODES])));
}

/// The same, with the two bytes of each scale before its codes.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q4_matmul_raw};
///
/// let mut w = [0x88u8 as i8; 18];
/// // The scale 1, low byte first, and the codes of elements 15 and 31.
/// (w[0], w[1], w[17]) = (0, 0x3c, 0x1f);
/// let (x, mut y) = ([1.0; 32], [0.0]);
/// q4_matmul_raw(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [7.0 - 7.0]);
/// ```
pub fn q4_matmul_raw(_cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    let blocks = shape.n * shape.k.div_ceil(BLOCK);
    assert_eq!(w.len(), RAW * blocks, "length of w for {shape:?}");
    multiplied(x, y, shape, |block| {
        let block = &w[block * RAW..][..RAW];
        (scale(block), numbers(&block[2..]))
    });
}

/// What the codes of a block stand for: low halves of its bytes, then high ones.
fn numbers(codes: &[i8]) -> impl Iterator<Item = f32> {
    let number = |half: u8| f32::from(half) - 8.0;
    let low = codes.iter().map(move |pair| number(*pair as u8 & 15));
    low.chain(codes.iter().map(move |pair| number(*pair as u8 >> 4)))
}
