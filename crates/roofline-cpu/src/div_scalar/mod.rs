//! `div-scalar`: y = x / scalar, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary_with};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::div_scalar;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("div-scalar", floats!(unary_with, "scalar", plain::div_scalar)).params(&["scalar"]),
    Implementation::new("div-scalar", "vector", VECTOR, lanes!(unary_with, "scalar", vector::div_scalar))
        .vector()
        .params(&["scalar"]),
    Implementation::new(
        "div-scalar",
        "parallel",
        PARALLEL,
        lanes!(unary_with, "scalar", parallel::div_scalar),
    )
    .vector()
    .parallel()
    .params(&["scalar"]),
];
