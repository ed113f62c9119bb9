//! A turned round first, then the packed kernel.
//!
//! Turning costs m·k copies against m·n·k multiply-adds; packing would read A in the wrong order otherwise.

use super::{Factor, matmul, matmul_nn};
use crate::scratch::{Plain, Scratch};
use crate::transpose::transpose;
use crate::{Cpu, Product, Rows};

/// C = Aᵀ·B.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul_tn};
///
/// let mut c = [0.0f32; 2];
/// matmul_tn(&Cpu::serial(), &[1.0, 2.0], &[3.0], &mut c, Product { m: 2, n: 1, k: 1 });
/// assert_eq!(c, [3.0, 6.0]);
/// ```
pub fn matmul_tn<T: Factor + Plain>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    matmul_nn(cpu, &turned(cpu, a, shape), b, c, shape);
}

/// C = Aᵀ·Bᵀ, likewise.
pub fn matmul_tt<T: Factor + Plain>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    matmul(cpu, &turned(cpu, a, shape), b, c, shape);
}

/// A as \[m,k\].
fn turned<T: Factor + Plain>(cpu: &Cpu, a: &[T], Product { m, k, .. }: Product) -> Scratch<T> {
    let mut turned = Scratch::take(m * k);
    transpose(cpu, a, &mut turned, Rows { rows: k, cols: m });
    turned
}
