//! `swiglu-quantize`: silu(gate) · up as codes in i8 with a scale for each row (`swiglu-quantize.fp8`: in fp8-e4m3). What is
//! quantised is in f32.

pub mod plain;

use crate::bind::{kernel, rows};
use crate::catalog::{Implementation, Kernel, Launch};
use crate::quantize::{Codes, INT8, results};
use crate::quantize_fp8::FP8;
use crate::{Args, Datum, Mismatch, Scalar, bf16, f16};
pub use plain::swiglu_quantize;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("swiglu-quantize", results!(prepare, INT8)),
    Implementation::plain("swiglu-quantize.fp8", results!(prepare, FP8)),
];

fn prepare<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    codes: Codes<impl Datum>,
) -> Result<Launch<'a>, Mismatch> {
    let (gate, up) = (args.take::<T>("gate")?, args.take("up")?);
    let (mut q, mut s, shape) = (args.take_out("q")?, args.take_out("s")?, rows(&args)?);
    Ok(Launch::new(move |cpu| swiglu_quantize(cpu, [&gate, &up], &mut q, &mut s, shape, codes)))
}
