//! The sums by a rung of [`matmul`](crate::matmul), kept beside C, and a pass over them that scales.

use super::Scaled;
use crate::bind::Multiply;
use crate::matmul::{self, packed};
use crate::scratch::Scratch;
use crate::{Cpu, Product, Scalar};

/// C = (A·Bᵀ)·sa·sb, by packed panels and a register tile.
///
/// ```
/// use roofline_cpu::{Cpu, Product, int8_matmul::{Scaled, packed::int8_matmul}};
///
/// let mut c = [0.0f32];
/// let (a, b) = (Scaled { codes: &[-3], scales: &[0.5] }, Scaled { codes: &[2], scales: &[0.25] });
/// int8_matmul(&Cpu::serial(), a, b, &mut c, Product { m: 1, n: 1, k: 1 });
/// assert_eq!(c, [-0.75]);
/// ```
pub fn int8_matmul<O: Scalar<Wide = f32>>(cpu: &Cpu, a: Scaled, b: Scaled, c: &mut [O], shape: Product) {
    scaled(cpu, a, b, c, shape, packed::matmul);
}

/// The same on all threads, by tile registers where the processor has them.
pub fn int8_matmul_parallel<O: Scalar<Wide = f32>>(
    cpu: &Cpu,
    a: Scaled,
    b: Scaled,
    c: &mut [O],
    shape: Product,
) {
    scaled(cpu, a, b, c, shape, matmul::matmul);
}

fn scaled<O: Scalar<Wide = f32>>(
    cpu: &Cpu,
    a: Scaled,
    b: Scaled,
    c: &mut [O],
    shape: Product,
    kernel: Multiply<i8, i32>,
) {
    a.check(shape.m);
    b.check(shape.n);
    shape.check(a.codes.len(), b.codes.len(), c.len());
    let mut sums = Scratch::take(shape.m * shape.n);
    kernel(cpu, a.codes, b.codes, &mut sums, shape);
    let rows = c.chunks_mut(shape.n.max(1)).zip(sums.chunks(shape.n.max(1)));
    for (i, (c, sums)) in rows.enumerate() {
        let of_row = a.scale(i);
        for (j, (c, sum)) in c.iter_mut().zip(sums).enumerate() {
            *c = O::narrow(*sum as f32 * of_row * b.scale(j));
        }
    }
}
