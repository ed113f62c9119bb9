//! `mul`: z = x · y, element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{binary, floats};
use crate::catalog::Implementation;
pub use plain::mul;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("mul", floats!(binary, plain::mul))];
