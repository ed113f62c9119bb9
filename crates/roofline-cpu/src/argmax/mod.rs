//! `argmax`: y = the place of a largest element of each row; of a NaN where there is one.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::argmax;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("argmax", floats!(prepare, plain::argmax))];

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    kernel: fn(&Cpu, &[T], &mut [i32], Rows),
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y, shape) = (args.take("x")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape)))
}
