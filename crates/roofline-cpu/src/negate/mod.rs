//! `negate`: y = −x, element by element. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
pub use vector::negate;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("negate", floats!(unary, plain::negate)),
    Implementation::new("negate", "vector", "one vector at a time", lanes!(unary, vector::negate)).vector(),
];
