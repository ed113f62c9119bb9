//! What codes stand for, written out in f32, and the product of these by [`matmul`](crate::matmul).

use super::Weights;
use crate::fp8_matmul::decoded::{multiplied, widened};
use crate::scratch::Scratch;
use crate::{Cpu, Product, Scalar};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, bf16, w4_matmul::{Weights, decoded::w4_matmul}};
///
/// let scales = [2.0, 0.5].map(bf16::from_f32);
/// let w = Weights { codes: &[0x1f, 0x79], scales: &scales, zeros: &[8, 1], group: 2 };
/// let (x, mut y) = ([1.0, 3.0, 2.0].map(bf16::from_f32), [bf16::ZERO]);
/// w4_matmul(&Cpu::serial(), &x, w, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y[0].to_f32(), -20.0);
/// ```
pub fn w4_matmul<T: Scalar<Wide = f32>>(cpu: &Cpu, x: &[T], w: Weights<T>, y: &mut [T], shape: Product) {
    w.check(shape.n, shape.k);
    let mut decoded = Scratch::take(shape.n * shape.k);
    for (row, decoded) in decoded.chunks_mut(shape.k.max(1)).enumerate() {
        let numbers = w.row(row, shape.k).flat_map(|(scale, codes)| codes.map(move |code| code * scale));
        decoded.iter_mut().zip(numbers).for_each(|(decoded, number)| *decoded = number);
    }
    multiplied(cpu, &widened(x), &decoded, y, shape);
}
