//! `gelu-tanh`: y = ½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::gelu_tanh;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("gelu-tanh", floats!(unary, plain::gelu_tanh)),
    Implementation::new("gelu-tanh", "vector", VECTOR, lanes!(unary, vector::gelu_tanh)).vector(),
    Implementation::new("gelu-tanh", "parallel", PARALLEL, lanes!(unary, parallel::gelu_tanh))
        .vector()
        .parallel(),
];
