//! `add`: z = x + y, element by element. bf16 and f16 are added in f32.
//!
//! One addition and three elements of traffic each: memory is the limit at
//! every size beyond the caches, and the ladder is about moving bytes.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{binary, floats, lanes};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::add;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("add", floats!(binary, plain::add)),
    Implementation::new("add", "vector", VECTOR, lanes!(binary, vector::add)).vector(),
    Implementation::new("add", "parallel", PARALLEL, lanes!(binary, parallel::add)).vector().parallel(),
];
