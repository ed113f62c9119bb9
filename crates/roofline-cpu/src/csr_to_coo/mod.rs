//! `csr-to-coo`: the row of each value of a sparse matrix, from where its rows begin.

pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch};
pub use plain::csr_to_coo;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain(
    "csr-to-coo",
    &[Kernel::new("i32", |_, mut args| {
        let (offsets, mut row_of) = (args.take("offsets")?, args.take_out("row-of")?);
        Ok(Launch::new(move |_| csr_to_coo(&offsets, &mut row_of)))
    })],
)];
