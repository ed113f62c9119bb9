//! `permute`: the three axes of x in another order, bit for bit; the plain form reverses them.

pub mod plain;
pub mod tiles;

use crate::bind::floats;
use crate::catalog::{Implementation, Kernel, Launch};
use crate::transpose::{PARALLEL, TILES};
use crate::{Args, Cpu, Datum, Mismatch};
pub use tiles::permute_parallel as permute;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("permute", floats!(prepare, [2, 1, 0], plain::permute)),
    tiles("permute", floats!(prepare, [2, 1, 0], tiles::permute)),
    tiles_parallel("permute", floats!(prepare, [2, 1, 0], tiles::permute_parallel)),
    Implementation::plain("permute.021", floats!(prepare, [0, 2, 1], plain::permute)),
    tiles("permute.021", floats!(prepare, [0, 2, 1], tiles::permute)),
    tiles_parallel("permute.021", floats!(prepare, [0, 2, 1], tiles::permute_parallel)),
    Implementation::plain("permute.102", floats!(prepare, [1, 0, 2], plain::permute)),
    tiles("permute.102", floats!(prepare, [1, 0, 2], tiles::permute)),
    tiles_parallel("permute.102", floats!(prepare, [1, 0, 2], tiles::permute_parallel)),
    Implementation::plain("permute.120", floats!(prepare, [1, 2, 0], plain::permute)),
    tiles("permute.120", floats!(prepare, [1, 2, 0], tiles::permute)),
    tiles_parallel("permute.120", floats!(prepare, [1, 2, 0], tiles::permute_parallel)),
    Implementation::plain("permute.201", floats!(prepare, [2, 0, 1], plain::permute)),
    tiles("permute.201", floats!(prepare, [2, 0, 1], tiles::permute)),
    tiles_parallel("permute.201", floats!(prepare, [2, 0, 1], tiles::permute_parallel)),
];

const fn tiles(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "tiles", TILES, kernels).vector()
}

const fn tiles_parallel(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "tiles-parallel", PARALLEL, kernels).vector().parallel()
}

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
