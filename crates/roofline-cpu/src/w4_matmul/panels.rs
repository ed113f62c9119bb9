//! W decoded a panel at a time, in the order of the register tile, for all rows of X; all threads. Groups that end within a part
//! of 32 codes are left to [`decoded`](super::decoded).

use super::codes::Groups;
use super::{Weights, decoded};
use crate::coded::panels;
use crate::matmul::Factor;
use crate::{Cpu, Element, Product};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, bf16, w4_matmul::{Weights, panels::w4_matmul}};
///
/// let one = bf16::from_f32(1.0);
/// let w = Weights { codes: &[0x1f, 0x79], scales: &[one], zeros: &[8], group: 32 };
/// let (x, mut y) = ([1.0, 3.0, 2.0].map(bf16::from_f32), [bf16::ZERO]);
/// w4_matmul(&Cpu::serial(), &x, w, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y[0].to_f32(), 7.0 - 3.0 * 7.0 + 2.0 * 1.0);
/// ```
pub fn w4_matmul<T>(cpu: &Cpu, x: &[T], w: Weights<T>, y: &mut [T], shape: Product)
where
    T: Element + Factor<Total = f32>,
{
    match Groups::new(w, shape.n, shape.k) {
        Some(w) => panels::multiply(cpu.isa, &cpu.pool, x, w, y, shape),
        None => decoded::w4_matmul(cpu, x, w, y, shape),
    }
}
