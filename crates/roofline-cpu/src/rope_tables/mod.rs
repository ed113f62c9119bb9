//! `rope-tables`: cosines and sines of the angles of rotary positions, which are computed in f64.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use vector::rope_tables_parallel as rope_tables;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("rope-tables", floats!(prepare, plain::rope_tables))
        .params(&["base", "angle-bits"]),
    Implementation::new("rope-tables", "vector", VECTOR, lanes!(prepare, vector::rope_tables))
        .vector()
        .params(&["base", "angle-bits"]),
    Implementation::new("rope-tables", "parallel", PARALLEL, lanes!(prepare, vector::rope_tables_parallel))
        .vector()
        .parallel()
        .params(&["base", "angle-bits"]),
];

const VECTOR: &str = "frequencies once, angles in vectors";
const PARALLEL: &str = "the vector loop on all threads, whole positions each";

type Tables<T> = fn(&Cpu, &[i32], &mut [T], &mut [T], usize, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Tables<T>) -> Result<Launch<'a>, Mismatch> {
    let (positions, mut cos, mut sin) =
        (args.take("positions")?, args.take_out("cos")?, args.take_out("sin")?);
    let (dim, base) = (args.axis("dim")?, args.value("base")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &positions, &mut cos, &mut sin, dim, base)))
}
