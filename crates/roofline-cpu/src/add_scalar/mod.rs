//! `add-scalar`: y = x + scalar, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary_with};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::add_scalar;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("add-scalar", floats!(unary_with, "scalar", plain::add_scalar)).params(&["scalar"]),
    Implementation::new("add-scalar", "vector", VECTOR, lanes!(unary_with, "scalar", vector::add_scalar))
        .vector()
        .params(&["scalar"]),
    Implementation::new(
        "add-scalar",
        "parallel",
        PARALLEL,
        lanes!(unary_with, "scalar", parallel::add_scalar),
    )
    .vector()
    .parallel()
    .params(&["scalar"]),
];
