//! `moe-combine`: the rows that experts left, back in the order of their tokens, added up by weight. bf16 and f16 are
//! computed in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::moe_combine;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("moe-combine", floats!(prepare, plain::moe_combine))];

type Combine<T> = fn(&Cpu, &[T], &[T], &[i32], &mut [T], Rows);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Combine<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, w, place) = (args.take("x")?, args.take("w")?, args.take("place")?);
    let (mut y, shape) = (args.take_out("y")?, Rows { rows: args.axis("rows")?, cols: args.axis("cols")? });
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &w, &place, &mut y, shape)))
}
