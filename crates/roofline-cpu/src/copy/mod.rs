//! `copy`: y = x, bit for bit.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::copy;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("copy", floats!(unary, plain::copy)),
    Implementation::new("copy", "vector", VECTOR, floats!(unary, vector::copy)).vector(),
    Implementation::new("copy", "parallel", PARALLEL, floats!(unary, parallel::copy)).vector().parallel(),
];
