//! `softmax-axis`: softmax over the middle dimension of x\[outer, length, inner\]. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use plain::softmax_axis;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("softmax-axis", floats!(prepare, plain::softmax_axis))];

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    kernel: fn(&Cpu, &[T], &mut [T], [usize; 3]),
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    let shape = [args.axis("outer")?, args.axis("length")?, args.axis("inner")?];
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape)))
}
