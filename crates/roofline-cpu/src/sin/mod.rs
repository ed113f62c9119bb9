//! `sin`: y = sin x, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::sin;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sin", floats!(unary, plain::sin)),
    Implementation::new("sin", "vector", VECTOR, lanes!(unary, vector::sin)).vector(),
    Implementation::new("sin", "parallel", PARALLEL, lanes!(unary, parallel::sin)).vector().parallel(),
];
