//! `pow-scalar`: y = x ^ exponent, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, unary_with};
use crate::catalog::Implementation;
use crate::elementwise::{PARALLEL, VECTOR};
pub use parallel::pow_scalar;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("pow-scalar", floats!(unary_with, "exponent", plain::pow_scalar))
        .params(&["exponent"]),
    Implementation::new("pow-scalar", "vector", VECTOR, lanes!(unary_with, "exponent", vector::pow_scalar))
        .vector()
        .params(&["exponent"]),
    Implementation::new(
        "pow-scalar",
        "parallel",
        PARALLEL,
        lanes!(unary_with, "exponent", parallel::pow_scalar),
    )
    .vector()
    .parallel()
    .params(&["exponent"]),
];
