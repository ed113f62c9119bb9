//! `qk-norm`: rms-norm of each head's values; `qk-norm.combined` that of queries and keys in one call.
//!
//! A head is a row, so the rungs are those of [`rms_norm`](crate::rms_norm()).

use crate::bind::{floats, lanes};
use crate::catalog::{Implementation, Launch};
use crate::rms_norm::{RmsNorm, parallel, plain, vector};
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("qk-norm", floats!(one, plain::rms_norm)).params(&["eps"]),
    Implementation::new(
        "qk-norm",
        "vector",
        "rms-norm in lanes on every head",
        lanes!(one, vector::rms_norm),
    )
    .params(&["eps"])
    .vector(),
    Implementation::new(
        "qk-norm",
        "parallel",
        "the vector kernel on whole heads, all threads",
        lanes!(one, parallel::rms_norm),
    )
    .params(&["eps"])
    .vector()
    .parallel(),
    Implementation::plain("qk-norm.combined", floats!(both, plain::rms_norm)).params(&["eps"]),
    Implementation::new(
        "qk-norm.combined",
        "vector",
        "rms-norm in lanes on every head of q, then of k",
        lanes!(both, vector::rms_norm),
    )
    .params(&["eps"])
    .vector(),
    Implementation::new(
        "qk-norm.combined",
        "parallel",
        "the vector kernel on whole heads of q, then of k, all threads",
        lanes!(both, parallel::rms_norm),
    )
    .params(&["eps"])
    .vector()
    .parallel(),
];

/// x \[seq, heads, dim\] with each head's values normalised, and w \[dim\] applied.
///
/// ```
/// use roofline_cpu::{Cpu, qk_norm};
///
/// let mut y = [0.0f32; 2];
/// qk_norm(&Cpu::serial(), &[3.0, -3.0], &[1.0, 2.0], &mut y, [1, 1, 2], 1e-6);
/// assert!((y[0] - 1.0).abs() < 1e-6 && (y[1] + 2.0).abs() < 1e-6);
/// ```
pub fn qk_norm<T: Scalar>(cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: [usize; 3], eps: f64) {
    crate::rms_norm(cpu, x, w, y, heads(shape), eps);
}

fn heads([seq, heads, dim]: [usize; 3]) -> Rows {
    Rows { rows: seq * heads, cols: dim }
}

fn shape(args: &Args<'_>) -> Result<Rows, Mismatch> {
    Ok(heads([args.axis("seq")?, args.axis("heads")?, args.axis("dim")?]))
}

fn one<'a, T: Datum>(mut args: Args<'a>, kernel: RmsNorm<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, w, mut y) = (args.take("x")?, args.take("w")?, args.take_out("y")?);
    let (shape, eps) = (shape(&args)?, args.value("eps")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &w, &mut y, shape, eps)))
}

fn both<'a, T: Datum>(mut args: Args<'a>, kernel: RmsNorm<T>) -> Result<Launch<'a>, Mismatch> {
    let (q, wq, mut yq) = (args.take("q")?, args.take("wq")?, args.take_out("yq")?);
    let (k, wk, mut yk) = (args.take("k")?, args.take("wk")?, args.take_out("yk")?);
    let (shape, eps) = (shape(&args)?, args.value("eps")?);
    Ok(Launch::new(move |cpu| {
        kernel(cpu, &q, &wq, &mut yq, shape, eps);
        kernel(cpu, &k, &wk, &mut yk, shape, eps);
    }))
}
