//! W decoded a panel at a time, in the order of the register tile, for all rows of X; all threads.

use crate::coded::{Blocks, panels, rounded};
use crate::{Cpu, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q4_matmul::panels::q4_matmul};
///
/// // Nine and ten, which stand for 1 and 2, for elements 0 and 16.
/// let mut q = [0x88u8 as i8; 16];
/// q[0] = 0xa9u8 as i8;
/// let (x, s, mut y) = ([1.0; 17], [f16::from_f32(2.0)], [0.0]);
/// q4_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 17 });
/// assert_eq!(y, [6.0]);
/// ```
pub fn q4_matmul(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    panels::multiply(cpu.isa, &cpu.pool, x, Blocks::<16>::apart(s, q, shape), y, shape);
}

/// Y = X·Wᵀ, with the two bytes of each scale before its codes.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q4_matmul::panels::q4_matmul_raw};
///
/// let mut w = [0x88u8 as i8; 18];
/// // The scale 1, low byte first, and the codes of elements 15 and 31.
/// (w[0], w[1], w[17]) = (0, 0x3c, 0x2f);
/// let (x, mut y) = ([1.0; 32], [0.0]);
/// q4_matmul_raw(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [7.0 - 6.0]);
/// ```
pub fn q4_matmul_raw(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    panels::multiply(cpu.isa, &cpu.pool, x, Blocks::<16>::raw(w, shape), y, shape);
}

/// Y = X·Wᵀ, where X becomes blocks of codes of eight bits first: as what these stand for, it meets the panels.
pub fn q4_matmul_rounded(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    q4_matmul(cpu, &rounded::numbers(cpu.isa, x, shape.k), s, q, y, shape);
}

/// The same, with the two bytes of each scale before its codes.
pub fn q4_matmul_raw_rounded(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    q4_matmul_raw(cpu, &rounded::numbers(cpu.isa, x, shape.k), w, y, shape);
}
