//! `log`: y = ln x, element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::log;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("log", floats!(unary, plain::log))];
