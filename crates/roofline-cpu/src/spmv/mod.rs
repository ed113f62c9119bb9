//! `spmv`: y = A·x with a sparse A: values, the column of each, and where rows begin (CSR); `spmv.coo`: with the row of
//! each value, in no order; `spmv.csc`: with the row of each value, and where columns begin. Values at one place add up. bf16 and f16 are summed in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Mismatch, Scalar};
pub use plain::{spmv, spmv_coo, spmv_csc};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("spmv", floats!(prepare, "offsets", plain::spmv)),
    Implementation::plain("spmv.coo", floats!(scatter, ["columns", "row-of"], plain::spmv_coo)),
    Implementation::plain("spmv.csc", floats!(scatter, ["offsets", "row-of"], plain::spmv_csc)),
];

/// A sparse matrix: a value and its column at each place, and what says the rows; or, in columns, the other way round.
#[derive(Clone, Copy, Debug)]
pub struct Sparse<'a, T> {
    /// Values, in the order of their rows, of their columns or in none.
    pub values: &'a [T],
    /// The column of each; or where the values of each column begin, and the number of all.
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

/// A kernel that adds each value to sums beside y.
type Scatter<T> = fn(Sparse<'_, T>, &[T], &mut [T], &mut [<T as Scalar>::Wide]);

/// With sums beside y, which each value adds to.
fn scatter<'a, T: Scalar>(
    mut args: Args<'a>,
    [columns, rows]: [&str; 2],
    kernel: Scatter<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (values, x, mut y) = (args.take::<T>("values")?, args.take("x")?, args.take_out("y")?);
    let (columns, rows) = (args.take(columns)?, args.take(rows)?);
    let mut sums = vec![T::Wide::default(); args.axis("rows")?];
    let bytes = size_of_val::<[T::Wide]>(&sums);
    let launch = Launch::new(move |_| {
        kernel(Sparse { values: &values, columns: &columns, rows: &rows }, &x, &mut y, &mut sums);
    });
    Ok(launch.keeping(bytes))
}
