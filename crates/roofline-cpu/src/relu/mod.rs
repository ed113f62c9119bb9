//! `relu`: y = max(x, 0), element by element; NaN stays NaN. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::relu;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("relu", floats!(unary, plain::relu))];
