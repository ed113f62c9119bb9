//! `cat`: rows of x and y joined, bit for bit.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::cat;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("cat", floats!(prepare, plain::cat))];

type Cat<T> = fn(&Cpu, &[T], &[T], &mut [T], Rows, usize);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Cat<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, y, mut z) = (args.take("x")?, args.take("y")?, args.take_out("z")?);
    let (shape, more) = (rows(&args)?, args.axis("more")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &y, &mut z, shape, more)))
}
