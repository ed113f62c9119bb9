//! The definition: the sum of each block, times its scale, added up.

use super::{BLOCK, apart, codes, raw};
use crate::{Cpu, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q8_matmul::plain::q8_matmul};
///
/// let mut q = [0; 64];
/// (q[0], q[31], q[32], q[33]) = (1, -2, 3, 100);
/// let (x, s, mut y) = ([1.0; 33], [2.0, 0.5].map(f16::from_f32), [0.0]);
/// q8_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 33 });
/// assert_eq!(y, [2.0 * (1.0 - 2.0) + 0.5 * 3.0]);
/// ```
pub fn q8_matmul(_cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    multiplied(x, y, shape, apart(s, q, shape, BLOCK), codes);
}

/// The same, with the two bytes of each scale before its codes.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q8_matmul::plain::q8_matmul_raw};
///
/// let mut w = [0; 34];
/// // The scale 1, low byte first, and the code of the last element.
/// (w[1], w[33]) = (0x3c, -7);
/// let (x, mut y) = ([1.0; 32], [0.0]);
/// q8_matmul_raw(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [-7.0]);
/// ```
pub fn q8_matmul_raw(_cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    multiplied(x, y, shape, raw(w, shape, BLOCK), codes);
}

/// Y = X·Wᵀ, from the scale and the codes of each block of W, and what these stand for beside it.
pub(crate) fn multiplied<'a, W: Iterator<Item = f32>>(
    x: &[f32],
    y: &mut [f32],
    shape: Product,
    block: impl Fn(usize) -> (f16, &'a [i8]),
    numbers: fn(&'a [i8]) -> W,
) {
    let Product { m, n, k } = shape;
    assert!([x.len(), y.len()] == [m * k, m * n], "lengths of x and y for {shape:?}");
    let of_row = k.div_ceil(BLOCK);
    for i in 0..m {
        for j in 0..n {
            let mut sum = 0.0;
            // The last part of a row of X may be shorter than the block that it meets.
            for (b, x) in x[i * k..][..k].chunks(BLOCK).enumerate() {
                let (scale, codes) = block(j * of_row + b);
                let products = x.iter().zip(numbers(codes)).map(|(x, q)| x * q);
                sum += scale.to_f32() * products.sum::<f32>();
            }
            y[i * n + j] = sum;
        }
    }
}
