//! `add-rms-norm`: h = x + r and y = rms-norm(h) · w in one pass.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::add_rms_norm;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("add-rms-norm", floats!(prepare, plain::add_rms_norm)).params(&["eps"])];

/// x, r, w, then h and y.
type AddRmsNorm<T> = fn(&Cpu, [&[T]; 3], [&mut [T]; 2], Rows, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: AddRmsNorm<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, r, w) = (args.take("x")?, args.take("r")?, args.take("w")?);
    let (mut h, mut y) = (args.take_out("h")?, args.take_out("y")?);
    let (shape, eps) = (rows(&args)?, args.value("eps")?);
    Ok(Launch::new(move |cpu| kernel(cpu, [&x, &r, &w], [&mut h, &mut y], shape, eps)))
}
