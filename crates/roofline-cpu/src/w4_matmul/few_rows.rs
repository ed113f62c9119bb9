//! W read once for up to eight rows of X, decoded in registers and written nowhere. Groups that end within a part of 32 codes
//! are left to [`decoded`](super::decoded).

use super::codes::Groups;
use super::{Weights, decoded};
use crate::coded::few_rows;
use crate::{Cpu, Element, Pool, Product};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, bf16, w4_matmul::{Weights, few_rows::w4_matmul}};
///
/// let one = bf16::from_f32(1.0);
/// let w = Weights { codes: &[0x1f, 0x79], scales: &[one], zeros: &[8], group: 32 };
/// let (x, mut y) = ([1.0, 3.0, 2.0].map(bf16::from_f32), [bf16::ZERO]);
/// w4_matmul(&Cpu::serial(), &x, w, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y[0].to_f32(), 7.0 - 3.0 * 7.0 + 2.0 * 1.0);
/// ```
pub fn w4_matmul<T: Element>(cpu: &Cpu, x: &[T], w: Weights<T>, y: &mut [T], shape: Product) {
    multiply(cpu, Pool::alone(), x, w, y, shape);
}

/// The same on all threads, each on columns of its own.
pub fn w4_matmul_parallel<T: Element>(cpu: &Cpu, x: &[T], w: Weights<T>, y: &mut [T], shape: Product) {
    multiply(cpu, &cpu.pool, x, w, y, shape);
}

fn multiply<T: Element>(cpu: &Cpu, pool: &Pool, x: &[T], w: Weights<T>, y: &mut [T], shape: Product) {
    match Groups::new(w, shape.n, shape.k) {
        Some(w) => few_rows::multiply(cpu.isa, pool, x, w, y, shape),
        None => decoded::w4_matmul(cpu, x, w, y, shape),
    }
}
