//! `negate`: y = −x, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::negate;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("negate", floats!(unary, plain::negate)),
    Implementation::new("negate", "vector", VECTOR, lanes!(unary, vector::negate)).vector(),
    Implementation::new("negate", "parallel", PARALLEL, lanes!(unary, parallel::negate)).vector().parallel(),
];
