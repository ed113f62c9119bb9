//! What codes stand for, written out in f32, and the product of these by [`matmul`](crate::matmul).

use super::Blocks;
use crate::matmul::matmul;
use crate::scratch::Scratch;
use crate::{Cpu, Product, Scalar, bf16};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Product, fp8_matmul::{Blocks, decoded::fp8_matmul}};
///
/// let x = [Fp8E4m3::from_f32(-3.0)];
/// let x = Blocks { codes: &x, scales: &[0.5], rows: 1, block: 1 };
/// let mut y = [0.0f32];
/// fp8_matmul(&Cpu::serial(), x, x, &mut y, Product { m: 1, n: 1, k: 1 });
/// assert_eq!(y, [2.25]);
/// ```
pub fn fp8_matmul<O: Scalar<Wide = f32>>(cpu: &Cpu, x: Blocks, w: Blocks, y: &mut [O], shape: Product) {
    shape.check(x.codes.len(), w.codes.len(), y.len());
    let (x, w) = (decoded(x, shape.m, shape.k), decoded(w, shape.n, shape.k));
    multiplied(cpu, &x, &w, y, shape);
}

/// The same of an X in bf16, which has no scales.
pub fn fp8_matmul_bf16(cpu: &Cpu, x: &[bf16], w: Blocks, y: &mut [bf16], shape: Product) {
    shape.check(x.len(), w.codes.len(), y.len());
    multiplied(cpu, &widened(x), &decoded(w, shape.n, shape.k), y, shape);
}

/// In f32.
pub(crate) fn widened<T: Scalar<Wide = f32>>(x: &[T]) -> Scratch<f32> {
    let mut wide = Scratch::take(x.len());
    wide.iter_mut().zip(x).for_each(|(wide, x)| *wide = x.wide());
    wide
}

/// The product of numbers in f32, rounded at the end.
pub(crate) fn multiplied<O: Scalar<Wide = f32>>(
    cpu: &Cpu,
    x: &[f32],
    w: &[f32],
    y: &mut [O],
    shape: Product,
) {
    let mut sums = Scratch::take(shape.m * shape.n);
    matmul(cpu, x, w, &mut sums, shape);
    y.iter_mut().zip(&*sums).for_each(|(y, sum)| *y = O::narrow(*sum));
}

fn decoded(of: Blocks, rows: usize, k: usize) -> Scratch<f32> {
    of.check(rows, k);
    let mut decoded = Scratch::take(rows * k);
    for (row, decoded) in decoded.chunks_mut(k.max(1)).enumerate() {
        for ((codes, scale), decoded) in of.row(row, k).zip(decoded.chunks_mut(of.block)) {
            decoded.iter_mut().zip(codes).for_each(|(decoded, code)| *decoded = code.to_f32() * scale);
        }
    }
    decoded
}
