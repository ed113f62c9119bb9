//! `gelu-quick`: y = x · sigmoid(1.702 · x), element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::gelu_quick;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("gelu-quick", floats!(unary, plain::gelu_quick)),
    Implementation::new("gelu-quick", "vector", VECTOR, lanes!(unary, vector::gelu_quick)).vector(),
    Implementation::new("gelu-quick", "parallel", PARALLEL, lanes!(unary, parallel::gelu_quick))
        .vector()
        .parallel(),
];
