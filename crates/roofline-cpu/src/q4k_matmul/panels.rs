//! W decoded a panel at a time, in the order of the register tile, for all rows of X; all threads.

use super::codes::Blocks;
use crate::coded::panels;
use crate::{Cpu, Product};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q4k_matmul::panels::q4k_matmul};
///
/// // Scales are counted in 1; the last part has the scale 16 + 1, and its last code is 3.
/// let mut w = [0; 144];
/// (w[1], w[7], w[15], w[143]) = (0x3c, 0x40, 0x01, 0x30);
/// let (x, mut y) = ([1.0; 256], [0.0]);
/// q4k_matmul(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 256 });
/// assert_eq!(y, [17.0 * 3.0]);
/// ```
pub fn q4k_matmul(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    panels::multiply(cpu.isa, &cpu.pool, x, Blocks::new(w, shape), y, shape);
}
