//! `q4-matmul`: Y = X·Wᵀ, weights in blocks of 32 codes of four bits and a scale in f16, apart; `q4-matmul.raw`: in the bytes
//! that GGML's Q4_0 has, each scale before its codes. The first 16 codes of a block are the low halves of its bytes, the
//! others the high ones, and each stands for itself less 8. Codes beyond k stand for nothing.

pub mod plain;

use crate::catalog::{Implementation, Kernel};
use crate::q8_matmul::{BLOCK, prepare, prepare_raw};
pub use plain::{q4_matmul, q4_matmul_raw};

/// Bytes of the codes of a block.
pub const CODES: usize = BLOCK / 2;
/// Bytes of a block where the scale stands before its codes.
pub const RAW: usize = CODES + 2;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("q4-matmul", &[Kernel::new("f32", |_, args| prepare(args, q4_matmul))]),
    Implementation::plain("q4-matmul.raw", &[Kernel::new("f32", |_, args| prepare_raw(args, q4_matmul_raw))]),
];
