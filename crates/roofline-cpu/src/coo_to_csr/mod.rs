//! `coo-to-csr`: where the rows of a sparse matrix begin, and the order that its values come in, from the row of each value.

pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch};
pub use plain::coo_to_csr;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain(
    "coo-to-csr",
    &[Kernel::new("i32", |_, mut args| {
        let (row_of, mut offsets) = (args.take("row-of")?, args.take_out("offsets")?);
        let mut order = args.take_out("order")?;
        Ok(Launch::new(move |_| coo_to_csr(&row_of, &mut offsets, &mut order)))
    })],
)];
