//! `exp`: y = eˣ, element by element. bf16 and f16 are computed in f32.

pub mod plain;

use crate::catalog::Implementation;
use crate::catalog::Kernel::{UnaryBf16, UnaryF16, UnaryF32};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::new(
    "exp",
    "plain",
    "one loop over the elements",
    &[UnaryF32(plain::exp), UnaryBf16(plain::exp), UnaryF16(plain::exp)],
)];
