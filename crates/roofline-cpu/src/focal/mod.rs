//! `focal`: y = −α · (1 − p)^γ · ln p for the probability p of the true class, element by element.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::elementwise::PARALLEL;
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use vector::focal_parallel as focal;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("focal", floats!(prepare, plain::focal)).params(&["alpha", "gamma"]),
    Implementation::new("focal", "vector", "a vector at a time", lanes!(prepare, vector::focal))
        .vector()
        .params(&["alpha", "gamma"]),
    Implementation::new("focal", "parallel", PARALLEL, lanes!(prepare, vector::focal_parallel))
        .vector()
        .parallel()
        .params(&["alpha", "gamma"]),
];

type Focal<T> = fn(&Cpu, &[T], &[i32], &mut [T], Rows, f64, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Focal<T>) -> Result<Launch<'a>, Mismatch> {
    let (p, t, mut y) = (args.take("p")?, args.take("t")?, args.take_out("y")?);
    let (shape, alpha, gamma) = (rows(&args)?, args.value("alpha")?, args.value("gamma")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &p, &t, &mut y, shape, alpha, gamma)))
}
