//! `gelu-tanh`: y = ½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::gelu_tanh;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("gelu-tanh", floats!(unary, plain::gelu_tanh))];
