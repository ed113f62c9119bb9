//! `sigmoid`: y = 1 / (1 + e⁻ˣ), element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::catalog::Implementation;
use crate::catalog::Kernel::{UnaryBf16, UnaryF16, UnaryF32};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::new(
    "sigmoid",
    "plain",
    "one loop over the elements",
    &[UnaryF32(plain::sigmoid), UnaryBf16(plain::sigmoid), UnaryF16(plain::sigmoid)],
)];
