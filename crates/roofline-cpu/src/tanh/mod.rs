//! `tanh`: y = tanh x, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::tanh;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("tanh", floats!(unary, plain::tanh)),
    Implementation::new("tanh", "vector", VECTOR, lanes!(unary, vector::tanh)).vector(),
    Implementation::new("tanh", "parallel", PARALLEL, lanes!(unary, parallel::tanh)).vector().parallel(),
];
