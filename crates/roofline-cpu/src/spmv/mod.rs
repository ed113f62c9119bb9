//! `spmv`: y = A·x with a sparse A: values, the column of each, and where rows begin (CSR); `spmv.coo`: with the row of
//! each value, in no order. Values at one place add up. bf16 and f16 are summed in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Mismatch, Scalar};
pub use plain::{spmv, spmv_coo};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("spmv", floats!(prepare, "offsets", plain::spmv)),
    Implementation::plain("spmv.coo", floats!(prepare_coo, "row-of")),
];

/// A sparse matrix: a value and its column at each place, and what says the rows.
#[derive(Clone, Copy, Debug)]
pub struct Sparse<'a, T> {
    /// Values, in the order of their rows or in none.
    pub values: &'a [T],
    /// The column of each.
    pub columns: &'a [i32],
    /// Where the values of each row begin, and the number of all; or the row of each value.
    pub rows: &'a [i32],
}

type Multiply<T> = fn(Sparse<'_, T>, &[T], &mut [T]);

fn prepare<'a, T: Scalar>(
    mut args: Args<'a>,
    rows: &str,
    kernel: Multiply<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (values, columns, rows) = (args.take::<T>("values")?, args.take("columns")?, args.take(rows)?);
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    Ok(Launch::new(move |_| {
        kernel(Sparse { values: &values, columns: &columns, rows: &rows }, &x, &mut y);
    }))
}

fn prepare_coo<'a, T: Scalar>(mut args: Args<'a>, rows: &str) -> Result<Launch<'a>, Mismatch> {
    let (values, columns, rows) = (args.take::<T>("values")?, args.take("columns")?, args.take(rows)?);
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    let mut sums = vec![T::Wide::default(); args.axis("rows")?];
    let bytes = size_of_val::<[T::Wide]>(&sums);
    let launch = Launch::new(move |_| {
        plain::spmv_coo(Sparse { values: &values, columns: &columns, rows: &rows }, &x, &mut y, &mut sums);
    });
    Ok(launch.keeping(bytes))
}
