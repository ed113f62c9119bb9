//! `sigmoid`: y = 1 / (1 + e⁻ˣ), element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::sigmoid;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sigmoid", floats!(unary, plain::sigmoid)),
    Implementation::new("sigmoid", "vector", VECTOR, lanes!(unary, vector::sigmoid)).vector(),
    Implementation::new("sigmoid", "parallel", PARALLEL, lanes!(unary, parallel::sigmoid))
        .vector()
        .parallel(),
];
