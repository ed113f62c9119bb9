//! `log-softmax` over each row: y = x − logsumexp(x); `log-softmax.columns` over each column.
//! bf16 and f16 are computed in f32.
//! `log-softmax-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;

use crate::bind::{floats, middle, unary};
use crate::catalog::Implementation;
pub use plain::{log_softmax, log_softmax_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("log-softmax", floats!(unary, plain::log_softmax)),
    Implementation::plain("log-softmax.columns", floats!(unary, plain::log_softmax_columns)),
    Implementation::plain("log-softmax-axis", floats!(middle, plain::log_softmax_columns)),
];
