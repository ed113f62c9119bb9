//! `dot`: z = Σ x · y. bf16 and f16 are summed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch};
pub use plain::dot;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("dot", floats!(prepare, plain::dot)),
    rowwise::vector("dot", lanes!(prepare, vector::dot)),
    rowwise::parallel("dot", lanes!(prepare, vector::dot_parallel)),
];

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    kernel: fn(&Cpu, &[T], &[T], &mut [T]),
) -> Result<Launch<'a>, Mismatch> {
    let (x, y, mut z) = (args.take("x")?, args.take("y")?, args.take_out("z")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &y, &mut z)))
}
