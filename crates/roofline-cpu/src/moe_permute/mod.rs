//! `moe-permute`: the rows of tokens sorted by their experts, where those of each expert begin, and which place each row
//! comes from.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Datum, Mismatch};
pub use plain::{Sorted, moe_permute};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("moe-permute", floats!(prepare, plain::moe_permute))];

type Permute<T> = fn(&[T], &[i32], Sorted<'_, T>, usize);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Permute<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, at, mut y) = (args.take("x")?, args.take("at")?, args.take_out("y")?);
    let (mut order, mut offsets) = (args.take_out("order")?, args.take_out("offsets")?);
    let cols = args.axis("cols")?;
    Ok(Launch::new(move |_| {
        kernel(&x, &at, Sorted { y: &mut y, order: &mut order, offsets: &mut offsets }, cols);
    }))
}
