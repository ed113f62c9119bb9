//! `axpy`: z = a · x + y, element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::axpy;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("axpy", floats!(prepare, plain::axpy)).params(&["a"])];

type Axpy<T> = fn(&Cpu, &[T], &[T], &mut [T], Rows, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Axpy<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, y, mut z) = (args.take("x")?, args.take("y")?, args.take_out("z")?);
    let (shape, a) = (rows(&args)?, args.value("a")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &y, &mut z, shape, a)))
}
