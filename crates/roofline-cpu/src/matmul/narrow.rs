//! Sums kept in f16, as units do that have no wider accumulator: every step rounds.

use crate::{Cpu, Product, f16};

/// C = A·Bᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, matmul::narrow::matmul};
///
/// let (a, b) = ([2048.0, 1.0, 1.0].map(f16::from_f32), [f16::ONE; 3]);
/// let mut c = [f16::ZERO];
/// matmul(&Cpu::serial(), &a, &b, &mut c, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(c[0].to_f32(), 2048.0); // 2049 is no f16, and rounds to even twice.
/// ```
pub fn matmul(_cpu: &Cpu, a: &[f16], b: &[f16], c: &mut [f16], shape: Product) {
    let Product { m, n, k } = shape;
    shape.check(a.len(), b.len(), c.len());
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        c[i * n + j] = sum_of((0..k).map(|p| (a[i * k + p], b[j * k + p])));
    }
}

/// C = A·B.
pub fn matmul_nn(_cpu: &Cpu, a: &[f16], b: &[f16], c: &mut [f16], shape: Product) {
    let Product { m, n, k } = shape;
    shape.check(a.len(), b.len(), c.len());
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        c[i * n + j] = sum_of((0..k).map(|p| (a[i * k + p], b[p * n + j])));
    }
}

/// Products of f16 are exact in f32, so that one rounding a step is left.
fn sum_of(products: impl Iterator<Item = (f16, f16)>) -> f16 {
    products.fold(f16::ZERO, |sum, (a, b)| f16::from_f32(a.to_f32() * b.to_f32() + sum.to_f32()))
}
