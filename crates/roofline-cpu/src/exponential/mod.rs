//! `exp`: y = eˣ, element by element. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
pub use vector::exp;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("exp", floats!(unary, plain::exp)),
    Implementation::new("exp", "vector", "one vector at a time", lanes!(unary, vector::exp)).vector(),
];
