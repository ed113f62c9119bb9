//! The definition: the sum of each group, times its scale, added up.

use super::Weights;
use crate::{Cpu, Product, Scalar};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, bf16, w4_matmul::{Weights, plain::w4_matmul}};
///
/// // Codes 15, 1 and 9 in groups of two; what is left of the last byte stands for nothing.
/// let scales = [2.0, 0.5].map(bf16::from_f32);
/// let w = Weights { codes: &[0x1f, 0x79], scales: &scales, zeros: &[8, 1], group: 2 };
/// let (x, mut y) = ([1.0, 3.0, 2.0].map(bf16::from_f32), [bf16::ZERO]);
/// w4_matmul(&Cpu::serial(), &x, w, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y[0].to_f32(), 2.0 * ((15.0 - 8.0) + 3.0 * (1.0 - 8.0)) + 0.5 * (2.0 * (9.0 - 1.0)));
/// ```
pub fn w4_matmul<T: Scalar<Wide = f32>>(_cpu: &Cpu, x: &[T], w: Weights<T>, y: &mut [T], shape: Product) {
    let Product { m, n, k } = shape;
    w.check(n, k);
    assert!([x.len(), y.len()] == [m * k, m * n], "lengths for {shape:?}");
    for i in 0..m {
        for j in 0..n {
            let mut sum = 0.0;
            for (x, (scale, codes)) in x[i * k..][..k].chunks(w.group).zip(w.row(j, k)) {
                let products = x.iter().zip(codes).map(|(x, code)| x.wide() * code);
                sum += scale * products.sum::<f32>();
            }
            y[i * n + j] = T::narrow(sum);
        }
    }
}
