//! `sqrt`: y = √x, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::sqrt;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sqrt", floats!(unary, plain::sqrt)),
    Implementation::new("sqrt", "vector", VECTOR, lanes!(unary, vector::sqrt)).vector(),
    Implementation::new("sqrt", "parallel", PARALLEL, lanes!(unary, parallel::sqrt)).vector().parallel(),
];
