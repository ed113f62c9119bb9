//! `mean`: y = Σ x / n, over each row, each column (`mean.columns`) or all (`mean.all`).
//! bf16 and f16 are computed in f32.
//! `mean-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;

use crate::bind::{floats, middle, unary};
use crate::catalog::Implementation;
pub use plain::{mean, mean_all, mean_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("mean", floats!(unary, plain::mean)),
    Implementation::plain("mean.columns", floats!(unary, plain::mean_columns)),
    Implementation::plain("mean-axis", floats!(middle, plain::mean_columns)),
    Implementation::plain("mean.all", floats!(unary, plain::mean_all)),
];
