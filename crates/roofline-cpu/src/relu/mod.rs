//! `relu`: y = max(x, 0), element by element; NaN stays NaN. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::relu;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("relu", floats!(unary, plain::relu)),
    Implementation::new("relu", "vector", VECTOR, lanes!(unary, vector::relu)).vector(),
    Implementation::new("relu", "parallel", PARALLEL, lanes!(unary, parallel::relu)).vector().parallel(),
];
