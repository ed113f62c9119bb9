//! `scale`: y = scalar · x, element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary_with};
use crate::catalog::Implementation;
pub use plain::scale;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("scale", floats!(unary_with, "scalar", plain::scale)).params(&["scalar"])];
