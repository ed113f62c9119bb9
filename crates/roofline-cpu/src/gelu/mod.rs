//! `gelu`: y = ½ · x · (1 + erf(x / √2)), element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::gelu;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("gelu", floats!(unary, plain::gelu)),
    Implementation::new("gelu", "vector", VECTOR, lanes!(unary, vector::gelu)).vector(),
    Implementation::new("gelu", "parallel", PARALLEL, lanes!(unary, parallel::gelu)).vector().parallel(),
];
