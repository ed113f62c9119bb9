//! Number types of tensors that every kernel is compiled for.

use half::{bf16, f16};

use crate::sys::Plain;

/// A floating-point type of tensors. Kernels compute in f32 and round once.
pub trait Element: Plain {
    /// `f32`, `bf16`, `f16`.
    const NAME: &'static str;
    /// What the kernels' sources call it.
    const DEFINE: &'static str;
    /// Elements in the sixteen bytes of one access.
    const PER_PACK: usize = 16 / size_of::<Self>();
}

impl Element for f32 {
    const NAME: &'static str = "f32";
    const DEFINE: &'static str = "ELEMENT_F32";
}

impl Element for bf16 {
    const NAME: &'static str = "bf16";
    const DEFINE: &'static str = "ELEMENT_BF16";
}

impl Element for f16 {
    const NAME: &'static str = "f16";
    const DEFINE: &'static str = "ELEMENT_F16";
}
