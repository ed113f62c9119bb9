//! `broadcast-add`: z = x + y, where x is the same along one axis: the middle one, the last (`broadcast-add.last`)
//! or the first (`broadcast-add.first`). bf16 and f16 are added in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use parallel::broadcast_add;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("broadcast-add", floats!(prepare, 1, plain::broadcast_add)),
    Implementation::new("broadcast-add", "vector", VECTOR, lanes!(prepare, 1, vector::broadcast_add))
        .vector(),
    Implementation::new("broadcast-add", "parallel", PARALLEL, lanes!(prepare, 1, parallel::broadcast_add))
        .vector()
        .parallel(),
    Implementation::plain("broadcast-add.last", floats!(prepare, 2, plain::broadcast_add)),
    Implementation::new("broadcast-add.last", "vector", VECTOR, lanes!(prepare, 2, vector::broadcast_add))
        .vector(),
    Implementation::new(
        "broadcast-add.last",
        "parallel",
        PARALLEL,
        lanes!(prepare, 2, parallel::broadcast_add),
    )
    .vector()
    .parallel(),
    Implementation::plain("broadcast-add.first", floats!(prepare, 0, plain::broadcast_add)),
    Implementation::new("broadcast-add.first", "vector", VECTOR, lanes!(prepare, 0, vector::broadcast_add))
        .vector(),
    Implementation::new(
        "broadcast-add.first",
        "parallel",
        PARALLEL,
        lanes!(prepare, 0, parallel::broadcast_add),
    )
    .vector()
    .parallel(),
];

const VECTOR: &str = "row by row, a vector at a time";
const PARALLEL: &str = "the vector loop on all threads, each on rows of its own";

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
