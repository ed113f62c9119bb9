//! `sqrt`: y = √x, element by element. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
pub use vector::sqrt;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sqrt", floats!(unary, plain::sqrt)),
    Implementation::new("sqrt", "vector", "one vector at a time", lanes!(unary, vector::sqrt)).vector(),
];
