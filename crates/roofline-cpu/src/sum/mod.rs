//! `sum`: y = Σ x, over each row, each column (`sum.columns`) or all (`sum.all`).
//! bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::{sum, sum_all, sum_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sum", floats!(unary, plain::sum)),
    Implementation::plain("sum.columns", floats!(unary, plain::sum_columns)),
    Implementation::plain("sum.all", floats!(unary, plain::sum_all)),
];
