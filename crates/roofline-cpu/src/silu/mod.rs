//! `silu`: y = x · sigmoid(x), element by element; also called swish. bf16 and f16 are computed in f32.

pub mod plain;

use crate::catalog::Implementation;
use crate::catalog::Kernel::{UnaryBf16, UnaryF16, UnaryF32};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::new(
    "silu",
    "plain",
    "one loop over the elements",
    &[UnaryF32(plain::silu), UnaryBf16(plain::silu), UnaryF16(plain::silu)],
)];
