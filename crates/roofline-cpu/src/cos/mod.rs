//! `cos`: y = cos x, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::cos;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("cos", floats!(unary, plain::cos)),
    Implementation::new("cos", "vector", VECTOR, lanes!(unary, vector::cos)).vector(),
    Implementation::new("cos", "parallel", PARALLEL, lanes!(unary, parallel::cos)).vector().parallel(),
];
