//! `silu`: y = x · sigmoid(x), element by element; also called swish. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::silu;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("silu", floats!(unary, plain::silu)),
    Implementation::new("silu", "vector", VECTOR, lanes!(unary, vector::silu)).vector(),
    Implementation::new("silu", "parallel", PARALLEL, lanes!(unary, parallel::silu)).vector().parallel(),
];
