//! `add-rms-norm-quantize`: h = x + r, and rms-norm(h) · w as codes in i8 with a scale for each row
//! (`add-rms-norm-quantize.fp8`: in fp8-e4m3). What is quantised is in f32.

pub mod plain;
mod vector;

use crate::bind::{kernel, rows};
use crate::catalog::{Implementation, Kernel, Launch};
use crate::quantize::vector::{Coding, ToEven};
use crate::quantize::{Codes, INT8, results};
use crate::quantize_fp8::FP8;
use crate::quantize_fp8::vector::E4m3;
use crate::{Args, Datum, Element, Mismatch, Pool, Scalar, bf16, f16, rowwise};
pub use plain::add_rms_norm_quantize;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("add-rms-norm-quantize", results!(prepare, INT8)).params(&["eps"]),
    rowwise::vector("add-rms-norm-quantize", results!(prepare_lanes, ToEven, false)).params(&["eps"]),
    rowwise::parallel("add-rms-norm-quantize", results!(prepare_lanes, ToEven, true)).params(&["eps"]),
    Implementation::plain("add-rms-norm-quantize.fp8", results!(prepare, FP8)).params(&["eps"]),
    rowwise::vector("add-rms-norm-quantize.fp8", results!(prepare_lanes, E4m3, false)).params(&["eps"]),
    rowwise::parallel("add-rms-norm-quantize.fp8", results!(prepare_lanes, E4m3, true)).params(&["eps"]),
];

fn prepare<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    codes: Codes<impl Datum>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, r, w) = (args.take::<T>("x")?, args.take("r")?, args.take("w")?);
    let (mut h, mut q, mut s) = (args.take_out("h")?, args.take_out("q")?, args.take_out("s")?);
    let (shape, eps) = (rows(&args)?, args.value("eps")?);
    Ok(Launch::new(move |cpu| {
        add_rms_norm_quantize(cpu, [&x, &r, &w], &mut h, (&mut q, &mut s), shape, eps, codes);
    }))
}

fn prepare_lanes<'a, T: Element>(
    mut args: Args<'a>,
    codes: impl Coding,
    parallel: bool,
) -> Result<Launch<'a>, Mismatch> {
    let (x, r, w) = (args.take::<T>("x")?, args.take("r")?, args.take("w")?);
    let (mut h, mut q, mut s) = (args.take_out("h")?, args.take_out("q")?, args.take_out("s")?);
    let (shape, eps) = (rows(&args)?, args.value("eps")?);
    Ok(Launch::new(move |cpu| {
        let pool = if parallel { &cpu.pool } else { Pool::alone() };
        vector::add_rms_norm_quantize(pool, cpu, [&x, &r, &w], &mut h, (&mut q, &mut s), shape, eps, codes);
    }))
}
