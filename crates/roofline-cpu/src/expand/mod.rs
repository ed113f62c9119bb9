//! `expand`: so many copies of x one after the other, bit for bit.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::expand;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("expand", floats!(prepare, plain::expand))];

type Expand<T> = fn(&Cpu, &[T], &mut [T], Rows, usize);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Expand<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    let (shape, copies) = (rows(&args)?, args.axis("copies")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape, copies)))
}
