//! `split`: the first columns of x apart from the rest, bit for bit.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::split;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("split", floats!(prepare, plain::split))];

type Split<T> = fn(&Cpu, &[T], &mut [T], &mut [T], Rows, usize);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Split<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y, mut z) = (args.take("x")?, args.take_out("y")?, args.take_out("z")?);
    let (shape, more) = (rows(&args)?, args.axis("more")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, &mut z, shape, more)))
}
