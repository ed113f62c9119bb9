//! `kv-append`: new keys and values into the slots of a cache, whose other slots stay what they are.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use plain::kv_append;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("kv-append", floats!(prepare, plain::kv_append))];

type Append<T> = fn(&Cpu, [&[T]; 2], &[i32], [&mut [T]; 2], usize);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Append<T>) -> Result<Launch<'a>, Mismatch> {
    let (k, v, slots) = (args.take("k")?, args.take("v")?, args.take("slot")?);
    let (mut keys, mut values) = (args.take_out("k-cache")?, args.take_out("v-cache")?);
    let length = args.axis("heads")? * args.axis("dim")?;
    Ok(Launch::new(move |cpu| kernel(cpu, [&k, &v], &slots, [&mut keys, &mut values], length)))
}
