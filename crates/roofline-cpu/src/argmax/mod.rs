//! `argmax`: y = the place of a largest element of each row; of a NaN where there is one. `argmax-axis`: over the
//! middle one of three dimensions, as columns of one matrix after the other.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::{argmax, argmax_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("argmax", floats!(prepare, plain::argmax)),
    Implementation::plain("argmax-axis", floats!(prepare_middle, plain::argmax_columns)),
];

type Argmax<T> = fn(&Cpu, &[T], &mut [i32], Rows);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Argmax<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y, shape) = (args.take("x")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape)))
}

fn prepare_middle<'a, T: Datum>(mut args: Args<'a>, kernel: Argmax<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out::<i32>("y")?);
    let shape = Rows { rows: args.axis("length")?, cols: args.axis("inner")? };
    Ok(Launch::new(move |cpu| {
        let matrices = x.chunks(shape.len().max(1)).zip(y.chunks_mut(shape.cols.max(1)));
        matrices.for_each(|(x, y)| kernel(cpu, x, y, shape));
    }))
}
