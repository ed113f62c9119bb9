//! W read once for up to eight rows of X, decoded in registers and written nowhere.

use crate::coded::{Blocks, few_rows};
use crate::{Cpu, Pool, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q4_matmul::few_rows::q4_matmul};
///
/// // Nine and ten, which stand for 1 and 2, for elements 0 and 16.
/// let mut q = [0x88u8 as i8; 16];
/// q[0] = 0xa9u8 as i8;
/// let (x, s, mut y) = ([1.0; 17], [f16::from_f32(2.0)], [0.0]);
/// q4_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 17 });
/// assert_eq!(y, [6.0]);
/// ```
pub fn q4_matmul(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    few_rows::multiply(cpu.isa, Pool::alone(), x, Blocks::<16>::apart(s, q, shape), y, shape);
}

/// The same on all threads, each on columns of its own.
pub fn q4_matmul_parallel(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    few_rows::multiply(cpu.isa, &cpu.pool, x, Blocks::<16>::apart(s, q, shape), y, shape);
}

/// Y = X·Wᵀ, with the two bytes of each scale before its codes.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q4_matmul::few_rows::q4_matmul_raw};
///
/// let mut w = [0x88u8 as i8; 18];
/// // The scale 1, low byte first, and the codes of elements 15 and 31.
/// (w[0], w[1], w[17]) = (0, 0x3c, 0x2f);
/// let (x, mut y) = ([1.0; 32], [0.0]);
/// q4_matmul_raw(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [7.0 - 6.0]);
/// ```
pub fn q4_matmul_raw(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    few_rows::multiply(cpu.isa, Pool::alone(), x, Blocks::<16>::raw(w, shape), y, shape);
}

/// The same on all threads, each on columns of its own.
pub fn q4_matmul_raw_parallel(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    few_rows::multiply(cpu.isa, &cpu.pool, x, Blocks::<16>::raw(w, shape), y, shape);
}
