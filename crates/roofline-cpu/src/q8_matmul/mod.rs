//! `q8-matmul`: Y = X·Wᵀ, weights in blocks of 32 codes of i8 and a scale in f16, apart; `q8-matmul.raw`: in the bytes that
//! GGML's Q8_0 has, each scale before its codes. Codes beyond k stand for nothing.

pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch};
use crate::{Args, Cpu, Mismatch, Product, f16};
pub use plain::{q8_matmul, q8_matmul_raw};

/// Codes of a block.
pub const BLOCK: usize = 32;
/// Bytes of a block where the scale stands before its codes.
pub const RAW: usize = BLOCK + 2;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("q8-matmul", &[Kernel::new("f32", |_, args| prepare(args, q8_matmul))]),
    Implementation::plain("q8-matmul.raw", &[Kernel::new("f32", |_, args| prepare_raw(args, q8_matmul_raw))]),
];

/// Of X, scales and codes.
pub(crate) type Multiply = fn(&Cpu, &[f32], &[f16], &[i8], &mut [f32], Product);
/// Of X and blocks.
pub(crate) type MultiplyRaw = fn(&Cpu, &[f32], &[i8], &mut [f32], Product);

pub(crate) fn prepare(mut args: Args<'_>, kernel: Multiply) -> Result<Launch<'_>, Mismatch> {
    let (x, s, q, mut y) = (args.take("x")?, args.take("s")?, args.take("q")?, args.take_out("y")?);
    let shape = shape(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &s, &q, &mut y, shape)))
}

pub(crate) fn prepare_raw(mut args: Args<'_>, kernel: MultiplyRaw) -> Result<Launch<'_>, Mismatch> {
    let (x, w, mut y) = (args.take("x")?, args.take("w")?, args.take_out("y")?);
    let shape = shape(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &w, &mut y, shape)))
}

fn shape(args: &Args<'_>) -> Result<Product, Mismatch> {
    Ok(Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? })
}
