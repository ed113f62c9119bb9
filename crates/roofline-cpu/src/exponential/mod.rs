//! `exp`: y = eˣ, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::exp;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("exp", floats!(unary, plain::exp)),
    Implementation::new("exp", "vector", VECTOR, lanes!(unary, vector::exp)).vector(),
    Implementation::new("exp", "parallel", PARALLEL, lanes!(unary, parallel::exp)).vector().parallel(),
];
