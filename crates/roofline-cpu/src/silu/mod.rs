//! `silu`: y = x · sigmoid(x), element by element; also called swish. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
pub use vector::silu;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("silu", floats!(unary, plain::silu)),
    Implementation::new("silu", "vector", "one vector at a time", lanes!(unary, vector::silu)).vector(),
];
