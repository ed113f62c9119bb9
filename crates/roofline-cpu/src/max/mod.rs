//! `max`: y = the largest x; NaN where there is one, over each row, each column (`max.columns`) or all (`max.all`).
//! bf16 and f16 are computed in f32.
//! `max-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;

use crate::bind::{floats, middle, unary};
use crate::catalog::Implementation;
pub use plain::{max, max_all, max_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("max", floats!(unary, plain::max)),
    Implementation::plain("max.columns", floats!(unary, plain::max_columns)),
    Implementation::plain("max-axis", floats!(middle, plain::max_columns)),
    Implementation::plain("max.all", floats!(unary, plain::max_all)),
];
