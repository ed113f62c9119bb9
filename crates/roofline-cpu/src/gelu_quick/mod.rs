//! `gelu-quick`: y = x · sigmoid(1.702 · x), element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::gelu_quick;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("gelu-quick", floats!(unary, plain::gelu_quick))];
