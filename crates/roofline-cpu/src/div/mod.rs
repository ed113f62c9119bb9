//! `div`: z = x / y, element by element, as IEEE divides. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{binary, floats};
use crate::catalog::Implementation;
pub use plain::div;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("div", floats!(binary, plain::div))];
