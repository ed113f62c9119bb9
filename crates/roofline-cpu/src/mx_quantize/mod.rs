//! `mx-quantize`: codes in fp8-e4m3 and a power of two for each 32 of a row (`mx-quantize.fp4`: codes in fp4-e2m1, two in a
//! byte; `mx-quantize.nvfp4`: a scale in fp8-e4m3 for each 16, beside one of the tensor's that is given). bf16 and f16 are
//! divided in f32.

pub mod plain;

use crate::bind::{lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Fp8E4m3, Mismatch, Rows, Scalar};
pub use plain::{mx_quantize, mx_quantize_fp4, nvfp4_quantize};

/// Codes that share a power of two.
pub const BLOCK: usize = 32;
/// Codes that share a scale in fp8-e4m3.
pub const NV_BLOCK: usize = 16;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("mx-quantize", lanes!(prepare, mx_quantize)),
    Implementation::plain("mx-quantize.fp4", lanes!(prepare_fp4, mx_quantize_fp4)),
    Implementation::plain("mx-quantize.nvfp4", lanes!(prepare_nv, nvfp4_quantize)),
];

type Quantize<T, Q> = fn(&Cpu, &[T], &mut [Q], &mut [i8], Rows);
type QuantizeNv<T> = fn(&Cpu, &[T], &[f32], &mut [i8], &mut [Fp8E4m3], Rows);

fn prepare<T: Scalar>(args: Args<'_>, kernel: Quantize<T, Fp8E4m3>) -> Result<Launch<'_>, Mismatch> {
    prepare_codes(args, kernel)
}

fn prepare_fp4<T: Scalar>(args: Args<'_>, kernel: Quantize<T, i8>) -> Result<Launch<'_>, Mismatch> {
    prepare_codes(args, kernel)
}

fn prepare_codes<T: Scalar, Q: Datum>(
    mut args: Args<'_>,
    kernel: Quantize<T, Q>,
) -> Result<Launch<'_>, Mismatch> {
    let (x, mut q, mut s) = (args.take("x")?, args.take_out("q")?, args.take_out("s")?);
    let shape = rows(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut q, &mut s, shape)))
}

fn prepare_nv<T: Scalar>(mut args: Args<'_>, kernel: QuantizeNv<T>) -> Result<Launch<'_>, Mismatch> {
    let (x, t) = (args.take("x")?, args.take("t")?);
    let (mut q, mut s) = (args.take_out("q")?, args.take_out("s")?);
    let shape = rows(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &t, &mut q, &mut s, shape)))
}
