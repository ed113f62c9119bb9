//! `q4-matmul`: Y = X·Wᵀ, weights in blocks of 32 codes of four bits and a scale in f16, apart; `q4-matmul.raw`: in the bytes
//! that GGML's Q4_0 has, each scale before its codes. The first 16 codes of a block are the low halves of its bytes, the
//! others the high ones, and each stands for itself less 8. Codes beyond k stand for nothing. In `f32+q8`, X
//! becomes blocks of eight bits on the way.

pub mod decoded;
pub mod plain;

use crate::catalog::{Implementation, Kernel, height, rungs};
use crate::q8_matmul::{BLOCK, DECODED, prepare, prepare_raw};
pub use decoded::{q4_matmul, q4_matmul_raw};

/// Bytes of the codes of a block.
pub const CODES: usize = BLOCK / 2;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain(
        "q4-matmul",
        &[
            Kernel::new("f32", |_, args| prepare(args, plain::q4_matmul)),
            Kernel::new("f32+q8", |_, args| prepare(args, plain::q4_matmul_rounded)),
        ],
    ),
    Implementation::new(
        "q4-matmul",
        "decoded",
        DECODED,
        &[Kernel::new("f32", |_, args| prepare(args, decoded::q4_matmul))],
    )
    .vector()
    .parallel(),
    Implementation::plain(
        "q4-matmul.raw",
        &[
            Kernel::new("f32", |_, args| prepare_raw(args, plain::q4_matmul_raw)),
            Kernel::new("f32+q8", |_, args| prepare_raw(args, plain::q4_matmul_raw_rounded)),
        ],
    ),
    Implementation::new(
        "q4-matmul.raw",
        "decoded",
        DECODED,
        &[Kernel::new("f32", |_, args| prepare_raw(args, decoded::q4_matmul_raw))],
    )
    .vector()
    .parallel(),
];

/// The same for weights that are known beforehand.
pub const FIXED: &[Implementation] = &rungs::<{ height(LADDER) }>(LADDER, "q4-matmul.fixed");

/// What the codes of a block stand for: low halves of its bytes, then high ones.
fn numbers(codes: &[i8]) -> impl Iterator<Item = f32> {
    let number = |half: u8| f32::from(half) - 8.0;
    let low = codes.iter().map(move |pair| number(*pair as u8 & 15));
    low.chain(codes.iter().map(move |pair| number(*pair as u8 >> 4)))
}
