//! The definition: what each code stands for, times its element of X, added up.

use super::{BLOCK, RAW, numbers};
use crate::{Cpu, Product};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q4k_matmul::plain::q4k_matmul};
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
            let w = w[j * of_row..][..of_row].chunks(RAW).flat_map(numbers);
            y[i * n + j] = x[i * k..][..k].iter().zip(w).map(|(x, w)| x * w).sum();
        }
    }
}
