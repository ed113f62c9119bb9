//! `coo-to-csr-values`: a sparse matrix row by row, or column by column, from values that each have their row and their
//! column.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::scratch::Scratch;
use crate::{Args, Datum, Mismatch};
pub use plain::coo_to_csr_values;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("coo-to-csr-values", floats!(prepare, ["row-of", "columns", "columns-out"])),
    Implementation::plain("coo-to-csr-values.csc", floats!(prepare, ["columns", "row-of", "row-of-out"])),
];

/// By the names of what is sorted by, of what goes with it, and of where that goes.
fn prepare<'a, T: Datum>(mut args: Args<'a>, names: [&str; 3]) -> Result<Launch<'a>, Mismatch> {
    let (rows, columns, values) = (args.take(names[0])?, args.take(names[1])?, args.take::<T>("values")?);
    let (mut offsets, mut others) = (args.take_out("offsets")?, args.take_out(names[2])?);
    let mut y = args.take_out("y")?;
    Ok(Launch::new(move |_| {
        let mut order = Scratch::take(values.len());
        coo_to_csr_values((&rows, &columns, &values), &mut order, (&mut offsets, &mut others, &mut y));
    }))
}
