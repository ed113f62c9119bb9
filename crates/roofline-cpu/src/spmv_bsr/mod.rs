//! `spmv-bsr`: y = A·x with a sparse A of dense blocks: blocks, the column of each, and where rows of blocks begin. bf16 and f16
//! are summed in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::spmv::Sparse;
use crate::{Args, Mismatch, Scalar};
pub use plain::spmv_bsr;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("spmv-bsr", floats!(prepare, plain::spmv_bsr))];

/// y from a matrix of blocks of such a side, and x.
type Multiply<T> = fn(Sparse<'_, T>, usize, &[T], &mut [T]);

fn prepare<'a, T: Scalar>(mut args: Args<'a>, kernel: Multiply<T>) -> Result<Launch<'a>, Mismatch> {
    let (values, columns, rows) = (args.take::<T>("values")?, args.take("columns")?, args.take("offsets")?);
    let (x, mut y, side) = (args.take("x")?, args.take_out("y")?, args.axis("side")?);
    Ok(Launch::new(move |_| {
        kernel(Sparse { values: &values, columns: &columns, rows: &rows }, side, &x, &mut y);
    }))
}
