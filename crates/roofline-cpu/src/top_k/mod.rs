//! `top-k`: the largest numbers of each row, the largest first, and where they stand.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Mismatch, Rows, Scalar};
pub use plain::top_k;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("top-k", floats!(prepare, plain::top_k))];

type TopK<T> = fn(&Cpu, &[T], &mut [T], &mut [i32], Rows, usize);

fn prepare<'a, T: Scalar>(mut args: Args<'a>, kernel: TopK<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y, mut at) = (args.take("x")?, args.take_out("y")?, args.take_out("at")?);
    let (shape, top) = (rows(&args)?, args.axis("top")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, &mut at, shape, top)))
}
