//! The definition: every element of C is the sum of k products.

use super::Term;
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
    shape.check(a.len(), b.len(), c.len());
    let Product { m, n, k } = shape;
    for i in 0..m {
        for j in 0..n {
            let products = (0..k).map(|p| (a[i * k + p], b[j * k + p]));
            c[i * n + j] = sum_of(products);
        }
    }
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
    shape.check(a.len(), b.len(), c.len());
    let Product { m, n, k } = shape;
    for i in 0..m {
        for j in 0..n {
            let products = (0..k).map(|p| (a[i * k + p], b[p * n + j]));
            c[i * n + j] = sum_of(products);
        }
    }
}

fn sum_of<T: Term>(products: impl Iterator<Item = (T, T)>) -> T::Output {
    let sum = products.fold(T::Total::default(), |sum, (a, b)| T::add_product(sum, a, b));
    T::round(sum)
}
