//! `relu`: y = max(x, 0), element by element; NaN stays NaN. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
pub use vector::relu;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("relu", floats!(unary, plain::relu)),
    Implementation::new("relu", "vector", "one vector at a time", lanes!(unary, vector::relu)).vector(),
];
