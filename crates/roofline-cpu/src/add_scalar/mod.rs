//! `add-scalar`: y = x + scalar, element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary_with};
use crate::catalog::Implementation;
pub use plain::add_scalar;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("add-scalar", floats!(unary_with, "scalar", plain::add_scalar))
        .params(&["scalar"])];
