//! `rope-tables`: cosines and sines of the angles of rotary positions, which are computed in f64.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use plain::rope_tables;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("rope-tables", floats!(prepare, plain::rope_tables))
        .params(&["base", "angle-bits"])];

type Tables<T> = fn(&Cpu, &[i32], &mut [T], &mut [T], usize, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Tables<T>) -> Result<Launch<'a>, Mismatch> {
    let (positions, mut cos, mut sin) =
        (args.take("positions")?, args.take_out("cos")?, args.take_out("sin")?);
    let (dim, base) = (args.axis("dim")?, args.value("base")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &positions, &mut cos, &mut sin, dim, base)))
}
