//! `gelu-quick`: y = x · sigmoid(1.702 · x), element by element. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
pub use vector::gelu_quick;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("gelu-quick", floats!(unary, plain::gelu_quick)),
    Implementation::new("gelu-quick", "vector", "one vector at a time", lanes!(unary, vector::gelu_quick))
        .vector(),
];
