//! `stack`: x, then y, along a new first axis, bit for bit.

pub mod plain;

use crate::bind::{binary, floats};
use crate::catalog::Implementation;
pub use plain::stack;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("stack", floats!(binary, plain::stack))];
