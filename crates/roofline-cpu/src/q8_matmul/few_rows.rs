//! W read once for up to eight rows of X, decoded in registers and written nowhere.

use crate::coded::{Blocks, few_rows};
use crate::{Cpu, Pool, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q8_matmul::few_rows::q8_matmul};
///
/// let mut q = [0; 64];
/// (q[0], q[31], q[32], q[33]) = (1, -2, 3, 100);
/// let (x, s, mut y) = ([1.0; 33], [2.0, 0.5].map(f16::from_f32), [0.0]);
/// q8_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 33 });
/// assert_eq!(y, [2.0 * (1.0 - 2.0) + 0.5 * 3.0]);
/// ```
pub fn q8_matmul(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    few_rows::multiply(cpu.isa, Pool::alone(), x, Blocks::<32>::apart(s, q, shape), y, shape);
}

/// The same on all threads, each on columns of its own.
pub fn q8_matmul_parallel(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    few_rows::multiply(cpu.isa, &cpu.pool, x, Blocks::<32>::apart(s, q, shape), y, shape);
}

/// Y = X·Wᵀ, with the two bytes of each scale before its codes.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q8_matmul::few_rows::q8_matmul_raw};
///
/// let mut w = [0; 34];
/// (w[1], w[33]) = (0x3c, -7);
/// let (x, mut y) = ([1.0; 32], [0.0]);
/// q8_matmul_raw(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [-7.0]);
/// ```
pub fn q8_matmul_raw(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    few_rows::multiply(cpu.isa, Pool::alone(), x, Blocks::<32>::raw(w, shape), y, shape);
}

/// The same on all threads, each on columns of its own.
pub fn q8_matmul_raw_parallel(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    few_rows::multiply(cpu.isa, &cpu.pool, x, Blocks::<32>::raw(w, shape), y, shape);
}
