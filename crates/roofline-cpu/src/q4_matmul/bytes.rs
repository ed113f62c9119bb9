//! X in blocks of codes too, and products of bytes: an instruction multiplies the 32 codes of a block where there is VNNI.

use crate::coded::{Blocks, rounded};
use crate::{Cpu, Pool, Product, f16};

/// Y = X·Wᵀ, scales and codes of W apart.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q4_matmul::bytes::q4_matmul};
///
/// // 127 is the largest of X, whose scale is 1: what is less than a half is lost.
/// let (mut q, mut x) = ([0x99u8 as i8; 16], [0.4; 32]);
/// (q[0], x[0]) = (0x9a_u8 as i8, 127.0);
/// let mut y = [0.0];
/// q4_matmul(&Cpu::serial(), &x, &[f16::from_f32(1.0)], &q, &mut y, Product { m: 1, n: 1, k: 32 });
/// assert_eq!(y, [254.0]);
/// ```
pub fn q4_matmul(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    rounded::multiply(cpu.isa, Pool::alone(), x, Blocks::<16>::apart(s, q, shape), y, shape);
}

/// The same on all threads, each on columns of its own.
pub fn q4_matmul_parallel(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    rounded::multiply(cpu.isa, &cpu.pool, x, Blocks::<16>::apart(s, q, shape), y, shape);
}

/// Y = X·Wᵀ, with the two bytes of each scale before its codes.
pub fn q4_matmul_raw(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    rounded::multiply(cpu.isa, Pool::alone(), x, Blocks::<16>::raw(w, shape), y, shape);
}

/// The same on all threads, each on columns of its own.
pub fn q4_matmul_raw_parallel(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    rounded::multiply(cpu.isa, &cpu.pool, x, Blocks::<16>::raw(w, shape), y, shape);
}
