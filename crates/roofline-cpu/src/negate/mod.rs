//! `negate`: y = −x, element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::negate;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("negate", floats!(unary, plain::negate))];
