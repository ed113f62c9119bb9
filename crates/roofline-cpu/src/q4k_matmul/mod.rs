//! `q4k-matmul`: Y = X·Wᵀ, weights in the bytes that GGML's Q4_K has: blocks of 256 codes of four bits, in eight parts, each
//! with a scale and an offset of six bits, which are counted in two numbers of f16. k is whole blocks.

pub mod plain;

use crate::catalog::{Implementation, Kernel};
use crate::q8_matmul::prepare_raw;
pub use plain::q4k_matmul;

/// Elements of a block.
pub const BLOCK: usize = 256;
/// Elements that share a scale and an offset.
pub const PART: usize = 32;
/// Where in a block the scales and offsets of parts begin.
pub const SCALES: usize = 4;
/// Where codes begin.
pub const CODES: usize = SCALES + 12;
/// Bytes of a block.
pub const RAW: usize = CODES + BLOCK / 2;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("q4k-matmul", &[Kernel::new("f32", |_, args| prepare_raw(args, q4k_matmul))])];
