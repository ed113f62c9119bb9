//! `div`: z = x / y, element by element, as IEEE divides. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{binary, floats, lanes};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::div;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("div", floats!(binary, plain::div)),
    Implementation::new("div", "vector", VECTOR, lanes!(binary, vector::div)).vector(),
    Implementation::new("div", "parallel", PARALLEL, lanes!(binary, parallel::div)).vector().parallel(),
];
