//! `swiglu-quantize`: silu(gate) · up as codes in i8 with a scale for each row (`swiglu-quantize.fp8`: in fp8-e4m3). What is
//! quantised is in f32.

pub mod plain;
mod vector;

use crate::bind::{kernel, rows};
use crate::catalog::{Implementation, Kernel, Launch};
use crate::quantize::vector::{Coding, ToEven};
use crate::quantize::{Codes, INT8, results};
use crate::quantize_fp8::FP8;
use crate::quantize_fp8::vector::E4m3;
use crate::{Args, Datum, Element, Mismatch, Pool, Scalar, bf16, f16, rowwise};
pub use plain::swiglu_quantize;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("swiglu-quantize", results!(prepare, INT8)),
    rowwise::vector("swiglu-quantize", results!(prepare_lanes, ToEven, false)),
    rowwise::parallel("swiglu-quantize", results!(prepare_lanes, ToEven, true)),
    Implementation::plain("swiglu-quantize.fp8", results!(prepare, FP8)),
    rowwise::vector("swiglu-quantize.fp8", results!(prepare_lanes, E4m3, false)),
    rowwise::parallel("swiglu-quantize.fp8", results!(prepare_lanes, E4m3, true)),
];

fn prepare<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    codes: Codes<impl Datum>,
) -> Result<Launch<'a>, Mismatch> {
    let (gate, up) = (args.take::<T>("gate")?, args.take("up")?);
    let (mut q, mut s, shape) = (args.take_out("q")?, args.take_out("s")?, rows(&args)?);
    Ok(Launch::new(move |cpu| swiglu_quantize(cpu, [&gate, &up], &mut q, &mut s, shape, codes)))
}

fn prepare_lanes<'a, T: Element>(
    mut args: Args<'a>,
    codes: impl Coding,
    parallel: bool,
) -> Result<Launch<'a>, Mismatch> {
    let (gate, up) = (args.take::<T>("gate")?, args.take("up")?);
    let (mut q, mut s, shape) = (args.take_out("q")?, args.take_out("s")?, rows(&args)?);
    Ok(Launch::new(move |cpu| {
        let pool = if parallel { &cpu.pool } else { Pool::alone() };
        vector::swiglu_quantize(pool, cpu, [&gate, &up], &mut q, &mut s, shape, codes);
    }))
}
