//! `mul`: z = x · y, element by element. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{binary, floats, lanes};
use crate::catalog::Implementation;
pub use vector::mul;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("mul", floats!(binary, plain::mul)),
    Implementation::new("mul", "vector", "one vector at a time", lanes!(binary, vector::mul)).vector(),
];
