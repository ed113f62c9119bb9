//! `permute`: the three axes of x in another order, bit for bit; the plain form reverses them.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use plain::permute;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("permute", floats!(prepare, [2, 1, 0], plain::permute)),
    Implementation::plain("permute.021", floats!(prepare, [0, 2, 1], plain::permute)),
    Implementation::plain("permute.102", floats!(prepare, [1, 0, 2], plain::permute)),
    Implementation::plain("permute.120", floats!(prepare, [1, 2, 0], plain::permute)),
    Implementation::plain("permute.201", floats!(prepare, [2, 0, 1], plain::permute)),
];

/// Sizes of x, and which of its axes each axis of y is.
type Permute<T> = fn(&Cpu, &[T], &mut [T], [usize; 3], [usize; 3]);

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    order: [usize; 3],
    kernel: Permute<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    let shape = [args.axis("a")?, args.axis("b")?, args.axis("c")?];
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape, order)))
}
