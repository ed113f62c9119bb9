//! `mul`: z = x · y, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{binary, floats, lanes};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::mul;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("mul", floats!(binary, plain::mul)),
    Implementation::new("mul", "vector", VECTOR, lanes!(binary, vector::mul)).vector(),
    Implementation::new("mul", "parallel", PARALLEL, lanes!(binary, parallel::mul)).vector().parallel(),
];
