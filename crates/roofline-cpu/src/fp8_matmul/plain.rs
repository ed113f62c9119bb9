//! The definition: the sum of each block, times its scales, added up.

use super::Blocks;
use crate::{Cpu, Product, Scalar, bf16};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Product, fp8_matmul::{Blocks, plain::fp8_matmul}};
///
/// let x = [1.0, 2.0, 3.0].map(Fp8E4m3::from_f32);
/// let x = Blocks { codes: &x, scales: &[1.0, 0.5], rows: 1, block: 2 };
/// let w = [1.0, 1.0, 4.0].map(Fp8E4m3::from_f32);
/// let w = Blocks { codes: &w, scales: &[2.0, 10.0], rows: 2, block: 2 };
/// let mut y = [0.0f32];
/// fp8_matmul(&Cpu::serial(), x, w, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y, [2.0 * (1.0 + 2.0) + 5.0 * 12.0]);
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
                let products = x.iter().zip(w).map(|(x, w)| x.to_f32() * w.to_f32());
                sum += of_x * of_w * products.sum::<f32>();
            }
            y[i * n + j] = O::narrow(sum);
        }
    }
}

/// The same of an X in bf16, which has no scales.
pub fn fp8_matmul_bf16(_cpu: &Cpu, x: &[bf16], w: Blocks, y: &mut [bf16], shape: Product) {
    let Product { m, n, k } = shape;
    w.check(n, k);
    assert!([x.len(), y.len()] == [m * k, m * n], "lengths for {shape:?}");
    for i in 0..m {
        for j in 0..n {
            let mut sum = 0.0;
            for (x, (w, of_w)) in x[i * k..][..k].chunks(w.block).zip(w.row(j, k)) {
                let products = x.iter().zip(w).map(|(x, w)| x.to_f32() * w.to_f32());
                sum += of_w * products.sum::<f32>();
            }
            y[i * n + j] = bf16::from_f32(sum);
        }
    }
}
