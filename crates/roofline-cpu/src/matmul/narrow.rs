//! Sums kept in f16, as units do that have no wider accumulator: every step rounds.

use super::places::{self, Places};
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
    sums(a, b, c, shape, places::nt);
}

/// C = A·B.
pub fn matmul_nn(_cpu: &Cpu, a: &[f16], b: &[f16], c: &mut [f16], shape: Product) {
    sums(a, b, c, shape, places::nn);
}

/// C = Aᵀ·B.
pub fn matmul_tn(_cpu: &Cpu, a: &[f16], b: &[f16], c: &mut [f16], shape: Product) {
    sums(a, b, c, shape, places::tn);
}

/// C = Aᵀ·Bᵀ.
pub fn matmul_tt(_cpu: &Cpu, a: &[f16], b: &[f16], c: &mut [f16], shape: Product) {
    sums(a, b, c, shape, places::tt);
}

/// Products of f16 are exact in f32, so that one rounding a step is left.
fn sums(a: &[f16], b: &[f16], c: &mut [f16], shape: Product, places: impl Places) {
    let add = |sum: f16, a: f16, b: f16| f16::from_f32(a.to_f32() * b.to_f32() + sum.to_f32());
    places::each_sum(a, b, c, shape, places, add, std::convert::identity);
}
