//! `log`: y = ln x, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::log;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("log", floats!(unary, plain::log)),
    Implementation::new("log", "vector", VECTOR, lanes!(unary, vector::log)).vector(),
    Implementation::new("log", "parallel", PARALLEL, lanes!(unary, parallel::log)).vector().parallel(),
];
