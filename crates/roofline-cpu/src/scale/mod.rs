//! `scale`: y = scalar · x, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary_with};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::scale;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("scale", floats!(unary_with, "scalar", plain::scale)).params(&["scalar"]),
    Implementation::new("scale", "vector", VECTOR, lanes!(unary_with, "scalar", vector::scale))
        .vector()
        .params(&["scalar"]),
    Implementation::new("scale", "parallel", PARALLEL, lanes!(unary_with, "scalar", parallel::scale))
        .vector()
        .parallel()
        .params(&["scalar"]),
];
