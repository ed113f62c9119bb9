//! `logsumexp`: y = m + ln Σ exp(x − m), m the largest x, over each row, each column (`logsumexp.columns`) or all (`logsumexp.all`).
//! bf16 and f16 are computed in f32.
//! `logsumexp-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;

use crate::bind::{floats, middle, unary};
use crate::catalog::Implementation;
pub use plain::{logsumexp, logsumexp_all, logsumexp_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("logsumexp", floats!(unary, plain::logsumexp)),
    Implementation::plain("logsumexp.columns", floats!(unary, plain::logsumexp_columns)),
    Implementation::plain("logsumexp-axis", floats!(middle, plain::logsumexp_columns)),
    Implementation::plain("logsumexp.all", floats!(unary, plain::logsumexp_all)),
];
