//! `pow-scalar`: y = x ^ exponent, element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, unary_with};
use crate::catalog::Implementation;
pub use plain::pow_scalar;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("pow-scalar", floats!(unary_with, "exponent", plain::pow_scalar))
        .params(&["exponent"])];
