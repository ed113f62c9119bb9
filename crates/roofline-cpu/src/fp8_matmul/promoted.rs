//! What tensor cores of the fp8 kind do: sums of 14 bits, which are added to one in f32 every 128 terms, and at the end of
//! a block.
//!
//! A stand-in for a unit that this processor does not have: it shows what the precision costs in digits, not in time.

use super::Blocks;
use crate::{Cpu, Product, Scalar};

/// Terms between two promotions.
const PROMOTED: usize = 128;
/// Bits of f32 beyond the 14.
const BEYOND: u32 = 10;

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Product, fp8_matmul::{Blocks, promoted::fp8_matmul}};
///
/// // 2¹⁴ and 1 are more than 14 bits apart, unless a promotion lies between them.
/// let x = [128.0, 1.0].map(Fp8E4m3::from_f32);
/// for (block, sum) in [(2, 16384.0), (1, 16385.0)] {
///     let scales = [1.0; 2];
///     let x = Blocks { codes: &x, scales: &scales[..2 / block], rows: 1, block };
///     let mut y = [0.0f32];
///     fp8_matmul(&Cpu::serial(), x, x, &mut y, Product { m: 1, n: 1, k: 2 });
///     assert_eq!(y, [sum]);
/// }
/// ```
pub fn fp8_matmul<O: Scalar<Wide = f32>>(_cpu: &Cpu, x: Blocks, w: Blocks, y: &mut [O], shape: Product) {
    let Product { m, n, k } = shape;
    x.check(m, k);
    w.check(n, k);
    assert!(y.len() == m * n && x.block == w.block, "a Y for {shape:?}, blocks of one length");
    for i in 0..m {
        for j in 0..n {
            let mut sum = 0.0;
            for ((x, of_x), (w, of_w)) in x.row(i, k).zip(w.row(j, k)) {
                for (x, w) in x.chunks(PROMOTED).zip(w.chunks(PROMOTED)) {
                    let products = x.iter().zip(w).map(|(x, w)| x.to_f32() * w.to_f32());
                    sum += of_x * of_w * products.fold(0.0, |sum, product| held(sum + product));
                }
            }
            y[i * n + j] = O::narrow(sum);
        }
    }
}

/// The nearest number of 14 bits, ties to even.
fn held(x: f32) -> f32 {
    let bits = x.to_bits();
    let half = (1 << (BEYOND - 1)) - 1 + (bits >> BEYOND & 1);
    f32::from_bits((bits + half) >> BEYOND << BEYOND)
}
