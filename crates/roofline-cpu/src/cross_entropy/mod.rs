//! `cross-entropy`: logsumexp(x) − x\[t\] of each row, their mean over the rows that count (`cross-entropy.none`:
//! each, 0 for rows that do not). bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::{cross_entropy, cross_entropy_none};

/// A target that stands for none: its row does not count.
pub const IGNORED: i32 = -100;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("cross-entropy", floats!(prepare, plain::cross_entropy)),
    rowwise::vector("cross-entropy", lanes!(prepare, vector::cross_entropy)),
    rowwise::parallel("cross-entropy", lanes!(prepare, vector::cross_entropy_parallel)),
    Implementation::plain("cross-entropy.none", floats!(prepare, plain::cross_entropy_none)),
    rowwise::vector("cross-entropy.none", lanes!(prepare, vector::cross_entropy_none)),
    rowwise::parallel("cross-entropy.none", lanes!(prepare, vector::cross_entropy_none_parallel)),
];

type CrossEntropy<T> = fn(&Cpu, &[T], &[i32], &mut [T], Rows);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: CrossEntropy<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, t, mut y, shape) = (args.take("x")?, args.take("t")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &t, &mut y, shape)))
}
