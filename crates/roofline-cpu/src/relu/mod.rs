//! `relu`: y = max(x, 0), element by element; NaN stays NaN. bf16 and f16 are computed in f32.

pub mod plain;

use crate::catalog::Implementation;
use crate::catalog::Kernel::{UnaryBf16, UnaryF16, UnaryF32};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::new(
    "relu",
    "plain",
    "one loop over the elements",
    &[UnaryF32(plain::relu), UnaryBf16(plain::relu), UnaryF16(plain::relu)],
)];
