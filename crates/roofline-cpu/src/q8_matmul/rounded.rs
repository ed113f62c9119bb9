//! X in blocks of codes too, as GGML computes: sums of integers in each block, times both scales, added up.

use super::{BLOCK, apart, codes, raw};
use crate::scratch::Scratch;
use crate::{Cpu, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q8_matmul::rounded::q8_matmul};
///
/// // 127 is the largest of X, whose scale is 1: what is less than a half is lost.
/// let (mut q, mut x) = ([1; 32], [0.4; 32]);
/// (q[0], x[0]) = (2, 127.0);
/// let mut y = [0.0];
/// q8_matmul(&Cpu::serial(), &x, &[f16::ONE], &q, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [254.0]);
/// ```
pub fn q8_matmul(_cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    multiplied(x, y, shape, apart(s, q, shape, BLOCK), codes);
}

/// The same, with the two bytes of each scale before its codes.
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
    let (mut codes, mut scales) = (Scratch::<f32>::take(k), Scratch::<f32>::take(of_row));
    for i in 0..m {
        let blocks = codes.chunks_mut(BLOCK).zip(x[i * k..][..k].chunks(BLOCK));
        for ((codes, x), scale) in blocks.zip(&mut *scales) {
            *scale = rounded(x, codes);
        }
        for j in 0..n {
            let mut sum = 0.0;
            for (b, (x, of_x)) in codes.chunks(BLOCK).zip(&*scales).enumerate() {
                let (of_w, codes) = block(j * of_row + b);
                // Whole numbers, whose sums f32 holds.
                let products = x.iter().zip(numbers(codes)).map(|(x, q)| x * q);
                sum += of_x * of_w.to_f32() * products.sum::<f32>();
            }
            y[i * n + j] = sum;
        }
    }
}

/// The codes of a block, and their scale as f16 holds it.
fn rounded(x: &[f32], codes: &mut [f32]) -> f32 {
    let scale = x.iter().fold(0.0, |most: f32, x| most.max(x.abs())) / 127.0;
    for (code, x) in codes.iter_mut().zip(x) {
        *code = if scale == 0.0 { 0.0 } else { (x / scale).round().clamp(-127.0, 127.0) };
    }
    f16::from_f32(scale).to_f32()
}
