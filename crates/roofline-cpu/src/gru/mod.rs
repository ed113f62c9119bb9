//! `gru`: h' = (1 − z)·n + z·h with n = tanh(W_ih·x + b_ih + r·(W_hh·h + b_hh)), of gates r, z and n, step after step.

pub mod plain;

use crate::bind::kernel;
use crate::catalog::Implementation;
use crate::rnn::prepare;
pub use plain::gru;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain(
        "gru",
        &[kernel!(f32, prepare, 1, plain::gru), kernel!(f64, prepare, 1, plain::gru)],
    ),
    Implementation::plain(
        "gru.bidirectional",
        &[kernel!(f32, prepare, 2, plain::gru), kernel!(f64, prepare, 2, plain::gru)],
    ),
];
