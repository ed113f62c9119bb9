//! The definition: every element of C is the sum of k products.

use super::Term;
use super::places::{self, Places};
use crate::{Cpu, Product};

/// C = A·Bᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::plain::matmul};
///
/// let mut c = [0.0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul(&Cpu::serial(), &[1.0, 2.0, 3.0], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &mut c, shape);
/// assert_eq!(c, [1.0, 6.0]);
/// ```
pub fn matmul<T: Term>(_cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    sums(a, b, c, shape, places::nt);
}

/// C = A·B.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::plain::matmul_nn};
///
/// let mut c = [0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul_nn(&Cpu::serial(), &[1i8, 2, 3], &[1, 1, 0, 1, 0, 1], &mut c, shape);
/// assert_eq!(c, [1, 6]);
/// ```
pub fn matmul_nn<T: Term>(_cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    sums(a, b, c, shape, places::nn);
}

/// C = Aᵀ·B.
pub fn matmul_tn<T: Term>(_cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    sums(a, b, c, shape, places::tn);
}

/// C = Aᵀ·Bᵀ.
pub fn matmul_tt<T: Term>(_cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    sums(a, b, c, shape, places::tt);
}

fn sums<T: Term>(a: &[T], b: &[T], c: &mut [T::Output], shape: Product, places: impl Places) {
    places::each_sum(a, b, c, shape, places, T::add_product, T::round);
}
