//! The definition: every element of C is an exact sum of k products, and two scales.

use super::Scaled;
use crate::{Cpu, Product, Scalar};

/// C = (A·Bᵀ)·sa·sb.
///
/// ```
/// use roofline_cpu::{Cpu, Product, int8_matmul::{Scaled, plain::int8_matmul}};
///
/// let mut c = [0.0f32; 2];
/// let a = Scaled { codes: &[1, -2, 3], scales: &[0.5] };
/// let b = Scaled { codes: &[1, 0, 0, 1, 1, 1], scales: &[1.0, 10.0] };
/// int8_matmul(&Cpu::serial(), a, b, &mut c, Product { m: 1, n: 2, k: 3 });
/// assert_eq!(c, [0.5, 10.0]);
/// ```
pub fn int8_matmul<O: Scalar<Wide = f32>>(_cpu: &Cpu, a: Scaled, b: Scaled, c: &mut [O], shape: Product) {
    let Product { m, n, k } = shape;
    shape.check(a.codes.len(), b.codes.len(), c.len());
    a.check(m);
    b.check(n);
    for i in 0..m {
        for j in 0..n {
            let (row, column) = (&a.codes[i * k..][..k], &b.codes[j * k..][..k]);
            let sum: i32 = row.iter().zip(column).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            c[i * n + j] = O::narrow(sum as f32 * a.scale(i) * b.scale(j));
        }
    }
}
