//! `silu`: y = x · sigmoid(x), element by element; also called swish. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::silu;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("silu", floats!(unary, plain::silu))];
