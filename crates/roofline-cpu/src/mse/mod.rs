//! `mse`: y = the mean of (p − t)²; their sum (`mse.sum`), or each (`mse.none`). bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{Binary, floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Datum, Mismatch};
pub use plain::{mse, mse_none, mse_sum};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("mse", floats!(prepare, plain::mse)),
    Implementation::plain("mse.sum", floats!(prepare, plain::mse_sum)),
    Implementation::plain("mse.none", floats!(prepare, plain::mse_none)),
];

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Binary<T>) -> Result<Launch<'a>, Mismatch> {
    let (p, t, mut y, shape) = (args.take("p")?, args.take("t")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &p, &t, &mut y, shape)))
}
