//! W decoded a panel at a time, in the order of the register tile, for all rows of X; all threads.

use crate::coded::{Blocks, panels, rounded};
use crate::{Cpu, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q8_matmul::panels::q8_matmul};
///
/// let mut q = [0; 64];
/// (q[0], q[31], q[32], q[33]) = (1, -2, 3, 100);
/// let (x, s, mut y) = ([1.0; 33], [2.0, 0.5].map(f16::from_f32), [0.0]);
/// q8_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 33 });
/// assert_eq!(y, [2.0 * (1.0 - 2.0) + 0.5 * 3.0]);
/// ```
pub fn q8_matmul(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    panels::multiply(cpu.isa, &cpu.pool, x, Blocks::<32>::apart(s, q, shape), y, shape);
}

/// Y = X·Wᵀ, with the two bytes of each scale before its codes.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q8_matmul::panels::q8_matmul_raw};
///
/// let mut w = [0; 34];
/// (w[1], w[33]) = (0x3c, -7);
/// let (x, mut y) = ([1.0; 32], [0.0]);
/// q8_matmul_raw(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [-7.0]);
/// ```
pub fn q8_matmul_raw(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    panels::multiply(cpu.isa, &cpu.pool, x, Blocks::<32>::raw(w, shape), y, shape);
}

/// Y = X·Wᵀ, where X becomes blocks of codes of eight bits first: as what these stand for, it meets the panels.
pub fn q8_matmul_rounded(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    q8_matmul(cpu, &rounded::numbers(cpu.isa, x, shape.k), s, q, y, shape);
}

/// The same, with the two bytes of each scale before its codes.
pub fn q8_matmul_raw_rounded(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    q8_matmul_raw(cpu, &rounded::numbers(cpu.isa, x, shape.k), w, y, shape);
}
