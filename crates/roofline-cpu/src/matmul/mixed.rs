//! Activations of f32 with weights of bf16 or f16, which are half the bytes to fetch; results in f32.
//!
//! The packed loop knows weights as f32 only: they are widened where they are packed, and no copy of them is ever written. For a
//! few rows they are widened on the way to the product.

use super::block::Block;
use super::few_rows::dots;
use super::packed::{group_cols, multiply_group, pack, pieces};
use super::{FEW_ROWS_MOST, Factor, Form};
use crate::catalog::Launch;
use crate::{Args, Cpu, Mismatch, Pool, Product, Scalar};

/// The definition of C = A·Bᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, bf16, matmul::mixed::matmul_plain};
///
/// let mut c = [0.0];
/// matmul_plain(&Cpu::serial(), &[1.0 / 1024.0, 2.0], &[bf16::ONE; 2], &mut c, Product { m: 1, n: 1, k: 2 });
/// assert_eq!(c, [2.0 + 1.0 / 1024.0]);
/// ```
pub fn matmul_plain<W: Scalar<Wide = f32>>(_cpu: &Cpu, a: &[f32], b: &[W], c: &mut [f32], shape: Product) {
    shape.check(a.len(), b.len(), c.len());
    let Product { n, k, .. } = shape;
    for (index, c) in c.iter_mut().enumerate() {
        let (a, b) = (&a[index / n * k..][..k], &b[index % n * k..][..k]);
        *c = a.iter().zip(b).map(|(a, b)| a * b.wide()).sum();
    }
}

/// C = A·Bᵀ by packed panels, on one thread.
pub fn matmul_packed<W: Factor<Total = f32>>(cpu: &Cpu, a: &[f32], b: &[W], c: &mut [f32], shape: Product) {
    multiply(cpu, Pool::alone(), a, b, c, shape);
}

/// The same on all threads.
pub fn matmul_packed_parallel<W: Factor<Total = f32>>(
    cpu: &Cpu,
    a: &[f32],
    b: &[W],
    c: &mut [f32],
    shape: Product,
) {
    multiply(cpu, &cpu.pool, a, b, c, shape);
}

/// C = A·Bᵀ with every element of B read once, as it lies, for up to eight rows of A; on one thread.
pub fn matmul_few_rows<W: Factor<Total = f32>>(cpu: &Cpu, a: &[f32], b: &[W], c: &mut [f32], shape: Product) {
    dots(cpu.isa, Pool::alone(), a, b, c, shape);
}

/// The same on all threads.
pub fn matmul_few_rows_parallel<W: Factor<Total = f32>>(
    cpu: &Cpu,
    a: &[f32],
    b: &[W],
    c: &mut [f32],
    shape: Product,
) {
    dots(cpu.isa, &cpu.pool, a, b, c, shape);
}

/// C = A·Bᵀ, by the rung that suits shape and threads.
///
/// ```
/// use roofline_cpu::{Cpu, Product, bf16, matmul::mixed::matmul};
///
/// let mut c = [0.0];
/// matmul(&Cpu::serial(), &[1.0 / 1024.0, 2.0], &[bf16::ONE; 2], &mut c, Product { m: 1, n: 1, k: 2 });
/// assert_eq!(c, [2.0 + 1.0 / 1024.0]);
/// ```
pub fn matmul<W: Factor<Total = f32>>(cpu: &Cpu, a: &[f32], b: &[W], c: &mut [f32], shape: Product) {
    match shape.m {
        ..=FEW_ROWS_MOST => matmul_few_rows_parallel(cpu, a, b, c, shape),
        _ => matmul_packed_parallel(cpu, a, b, c, shape),
    }
}

fn multiply<W: Factor<Total = f32>>(
    cpu: &Cpu,
    pool: &Pool,
    a: &[f32],
    b: &[W],
    c: &mut [f32],
    shape: Product,
) {
    shape.check(a.len(), b.len(), c.len());
    if shape.k == 0 {
        return c.fill(0.0);
    }
    let c = Block::new(c, shape.m, shape.n);
    for group in pieces(0..shape.n, group_cols::<f32>(cpu.isa, shape.k)) {
        let panels = pack(cpu.isa, pool, Form::Transposed, b, shape, group.clone());
        multiply_group(cpu.isa, pool, a, &panels, &c, shape, group);
    }
}

pub(super) type Multiply<W> = fn(&Cpu, &[f32], &[W], &mut [f32], Product);

pub(super) fn prepare<W: crate::Datum>(
    mut args: Args<'_>,
    kernel: Multiply<W>,
) -> Result<Launch<'_>, Mismatch> {
    let (a, b, mut c) = (args.take("a")?, args.take("b")?, args.take_out("c")?);
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    Ok(Launch::new(move |cpu| kernel(cpu, &a, &b, &mut c, shape)))
}
