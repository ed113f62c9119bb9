//! Products of a few rows of A, on all threads.
//!
//! The loop of [`super::few_rows`] on columns of C that are a thread's own: it meets the same part of B in every call.

use super::few_rows::multiply;
use super::{Factor, Form};
use crate::{Cpu, Product};

/// C = A·Bᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::few_rows_parallel::matmul};
///
/// let mut c = [0.0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul(&Cpu::new(2), &[1.0, 2.0, 3.0], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &mut c, shape);
/// assert_eq!(c, [1.0, 6.0]);
/// ```
pub fn matmul<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    multiply(cpu.isa, &cpu.pool, Form::Transposed, a, b, c, shape);
}

/// C = A·B.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::few_rows_parallel::matmul_nn};
///
/// let mut c = [0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul_nn(&Cpu::new(2), &[1i8, 2, 3], &[1, 1, 0, 1, 0, 1], &mut c, shape);
/// assert_eq!(c, [1, 6]);
/// ```
pub fn matmul_nn<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    multiply(cpu.isa, &cpu.pool, Form::Straight, a, b, c, shape);
}
