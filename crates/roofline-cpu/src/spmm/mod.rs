//! `spmm`: Y = A·X with a sparse A in rows (CSR), X \[cols,n\] and Y \[rows,n\]. bf16 and f16 are summed in f32.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::spmv::Sparse;
use crate::{Args, Mismatch, Scalar};
pub use plain::spmm;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("spmm", floats!(prepare, "offsets"))];

fn prepare<'a, T: Scalar>(mut args: Args<'a>, rows: &str) -> Result<Launch<'a>, Mismatch> {
    let (values, columns, rows) = (args.take::<T>("values")?, args.take("columns")?, args.take(rows)?);
    let (x, mut y, n) = (args.take("x")?, args.take_out("y")?, args.axis("n")?);
    let mut sums = vec![T::Wide::default(); n];
    let bytes = size_of_val::<[T::Wide]>(&sums);
    let launch = Launch::new(move |_| {
        plain::spmm(Sparse { values: &values, columns: &columns, rows: &rows }, &x, &mut y, &mut sums);
    });
    Ok(launch.keeping(bytes))
}
