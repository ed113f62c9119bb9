//! `moe-route`: the experts of each token, the likeliest first, and their shares, which add up to 1. bf16 and f16 are
//! computed in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Mismatch, Rows, Scalar};
pub use plain::moe_route;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("moe-route", floats!(prepare, plain::moe_route))];

type Route<T> = fn(&Cpu, &[T], &mut [T], &mut [i32], Rows);

fn prepare<'a, T: Scalar>(mut args: Args<'a>, kernel: Route<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut w, mut at) = (args.take("x")?, args.take_out("w")?, args.take_out("at")?);
    let shape = Rows { rows: args.axis("rows")?, cols: args.axis("experts")? };
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut w, &mut at, shape)))
}
