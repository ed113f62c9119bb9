//! The definition: what each code stands for, times its element of X, added up.

use super::{BLOCK, CODES, PART, RAW, SCALES};
use crate::q8_matmul::plain::scale;
use crate::{Cpu, Product};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q4k_matmul};
///
/// // Scales are counted in 1 and offsets in 2.
/// let mut w = [0; 144];
/// (w[1], w[3]) = (0x3c, 0x40);
/// // The first part has the scale 3 and the offset 5, and its first code is 7; the second part has nothing.
/// (w[4], w[8], w[16]) = (3, 5, 7);
/// let (x, mut y) = ([1.0; 256], [0.0]);
/// q4k_matmul(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 256 });
/// assert_eq!(y, [3.0 * 7.0 - 32.0 * (2.0 * 5.0)]);
/// ```
pub fn q4k_matmul(_cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    let Product { m, n, k } = shape;
    assert!(k.is_multiple_of(BLOCK), "whole blocks for {shape:?}");
    let of_row = k / BLOCK * RAW;
    assert!([x.len(), w.len(), y.len()] == [m * k, n * of_row, m * n], "lengths for {shape:?}");
    for i in 0..m {
        for j in 0..n {
            let blocks = x[i * k..][..k].chunks(BLOCK).zip(w[j * of_row..][..of_row].chunks(RAW));
            y[i * n + j] = blocks.map(|(x, block)| product(x, block)).sum();
        }
    }
}

/// The product of as many elements of X with a block.
fn product(x: &[f32], block: &[i8]) -> f32 {
    let (of_scales, of_offsets) = (scale(block).to_f32(), scale(&block[2..]).to_f32());
    let mut sum = 0.0;
    for (index, x) in x.chunks(PART).enumerate() {
        let [scale, offset] = part(&block[SCALES..CODES], index).map(f32::from);
        let (scale, offset) = (of_scales * scale, of_offsets * offset);
        // Two parts share their bytes: the first has the low halves.
        let (codes, shift) = (&block[CODES + index / 2 * PART..], index % 2 * 4);
        for (x, pair) in x.iter().zip(codes) {
            let code = *pair as u8 >> shift & 15;
            sum += x * (scale * f32::from(code) - offset);
        }
    }
    sum
}

/// The scale and the offset of a part. The first four have theirs in the lower six bits of bytes 0 to 3 and 4 to 7. The others
/// have the lower four bits in the halves of bytes 8 to 11, low and high, and the upper two where the first four leave two
/// bits over.
fn part(bytes: &[i8], index: usize) -> [u8; 2] {
    let byte = |at: usize| bytes[at] as u8;
    let upper = |at: usize| byte(at) >> 6 << 4;
    match index.checked_sub(4) {
        None => [byte(index) & 63, byte(index + 4) & 63],
        Some(later) => [byte(later + 8) & 15 | upper(later), byte(later + 8) >> 4 | upper(later + 4)],
    }
}
