//! `sub`: z = x − y, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{binary, floats, lanes};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::sub;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sub", floats!(binary, plain::sub)),
    Implementation::new("sub", "vector", VECTOR, lanes!(binary, vector::sub)).vector(),
    Implementation::new("sub", "parallel", PARALLEL, lanes!(binary, parallel::sub)).vector().parallel(),
];
