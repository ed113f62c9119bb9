//! `div`: z = x / y, element by element, as IEEE divides. bf16 and f16 are computed in f32.

pub mod plain;

use crate::catalog::Implementation;
use crate::catalog::Kernel::{BinaryBf16, BinaryF16, BinaryF32};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::new(
    "div",
    "plain",
    "one loop over the elements",
    &[BinaryF32(plain::div), BinaryBf16(plain::div), BinaryF16(plain::div)],
)];
