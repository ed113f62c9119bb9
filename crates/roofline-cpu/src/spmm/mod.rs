//! `spmm`: Y = A·X with a sparse A in rows (CSR) or, `spmm.coo`, in no order, X \[cols,n\] and Y \[rows,n\]. bf16 and f16 are summed in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::spmv::Sparse;
use crate::{Args, Mismatch, Scalar};
pub use plain::{spmm, spmm_coo};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("spmm", floats!(prepare, "offsets", plain::spmm)),
    Implementation::plain("spmm.coo", floats!(prepare, "row-of", plain::spmm_coo)),
];

/// Y from A, X, the columns of X, and what sums are kept in.
type Multiply<T, W> = fn(Sparse<'_, T>, &[T], &mut [T], usize, &mut [W]);

fn prepare<'a, T: Scalar>(
    mut args: Args<'a>,
    rows: &str,
    kernel: Multiply<T, T::Wide>,
) -> Result<Launch<'a>, Mismatch> {
    // Sums of a row, or of all where values come in no order.
    let lines = if rows == "offsets" { 1 } else { args.axis("rows")? };
    let (values, columns, rows) = (args.take::<T>("values")?, args.take("columns")?, args.take(rows)?);
    let (x, mut y, n) = (args.take("x")?, args.take_out("y")?, args.axis("n")?);
    let mut sums = vec![T::Wide::default(); lines * n];
    let bytes = size_of_val::<[T::Wide]>(&sums);
    let launch = Launch::new(move |_| {
        kernel(Sparse { values: &values, columns: &columns, rows: &rows }, &x, &mut y, n, &mut sums);
    });
    Ok(launch.keeping(bytes))
}
