//! `broadcast-add`: z = x + y, where x is the same along one axis: the middle one, the last (`broadcast-add.last`)
//! or the first (`broadcast-add.first`). bf16 and f16 are added in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use plain::broadcast_add;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("broadcast-add", floats!(prepare, 1, plain::broadcast_add)),
    Implementation::plain("broadcast-add.last", floats!(prepare, 2, plain::broadcast_add)),
    Implementation::plain("broadcast-add.first", floats!(prepare, 0, plain::broadcast_add)),
];

/// Sizes of y, and the axis that x is the same along.
type BroadcastAdd<T> = fn(&Cpu, &[T], &[T], &mut [T], [usize; 3], usize);

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    along: usize,
    kernel: BroadcastAdd<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, y, mut z) = (args.take("x")?, args.take("y")?, args.take_out("z")?);
    let shape = [args.axis("outer")?, args.axis("middle")?, args.axis("inner")?];
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &y, &mut z, shape, along)))
}
