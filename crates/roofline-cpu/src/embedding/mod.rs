//! `embedding`: y\[i\] = x\[t\[i\]\], rows of a table by their numbers, bit for bit.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::embedding;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("embedding", floats!(prepare, plain::embedding))];

type Embedding<T> = fn(&Cpu, &[T], &[i32], &mut [T], Rows);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Embedding<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, t, mut y) = (args.take("x")?, args.take("t")?, args.take_out("y")?);
    let table = Rows { rows: args.axis("table")?, cols: args.axis("cols")? };
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &t, &mut y, table)))
}
