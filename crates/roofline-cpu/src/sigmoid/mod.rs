//! `sigmoid`: y = 1 / (1 + e⁻ˣ), element by element. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
pub use vector::sigmoid;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sigmoid", floats!(unary, plain::sigmoid)),
    Implementation::new("sigmoid", "vector", "one vector at a time", lanes!(unary, vector::sigmoid)).vector(),
];
