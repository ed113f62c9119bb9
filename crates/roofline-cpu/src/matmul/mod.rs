//! `matmul`: C = A·Bᵀ with weights B \[n,k\]; `matmul.nn`: C = A·B with B \[k,n\].
//!
//! f32, bf16 and f16 sum in f32 and round once at the end; i8 sums exactly in
//! i32. 2·m·n·k operations on (m + n)·k + m·n elements: from a few dozen rows
//! on, arithmetic is the limit, provided that a number fetched from a cache
//! is used many times. That reuse is what the ladder is about.

mod block;
mod factor;
mod packing;
mod tile;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tile_packing;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod amx;
pub mod packed;
pub mod packed_parallel;
pub mod plain;

use crate::catalog::Implementation;
use crate::catalog::Kernel::{MultiplyBf16, MultiplyF16, MultiplyF32, MultiplyI8};
pub use factor::Factor;

/// The rungs, from the plain one up; of a B that is known beforehand nothing is packed yet.
pub const LADDER: &[Implementation] = &[
    PLAIN,
    PACKED,
    PACKED_PARALLEL,
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    AMX,
    Implementation::new(
        "matmul.nn",
        "plain",
        "three loops, the definition",
        &[
            MultiplyF32(plain::matmul_nn),
            MultiplyBf16(plain::matmul_nn),
            MultiplyF16(plain::matmul_nn),
            MultiplyI8(plain::matmul_nn),
        ],
    ),
    Implementation::new(
        "matmul.nn",
        "packed",
        "packed panels and a register tile, blocked for the caches",
        &[
            MultiplyF32(packed::matmul_nn),
            MultiplyBf16(packed::matmul_nn),
            MultiplyF16(packed::matmul_nn),
            MultiplyI8(packed::matmul_nn),
        ],
    )
    .vector(),
    Implementation::new(
        "matmul.nn",
        "packed-parallel",
        "panels packed together, tiles of C dealt to all threads",
        &[
            MultiplyF32(packed_parallel::matmul_nn),
            MultiplyBf16(packed_parallel::matmul_nn),
            MultiplyF16(packed_parallel::matmul_nn),
            MultiplyI8(packed_parallel::matmul_nn),
        ],
    )
    .vector()
    .parallel(),
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Implementation::new(
        "matmul.nn",
        "amx",
        "tile registers: 32 by 32 sums from packed strips, all threads",
        &[MultiplyBf16(amx::matmul_nn), MultiplyI8(amx::matmul_nn)],
    )
    .parallel()
    .if_available(amx::is_available),
    PLAIN.form("matmul.fixed"),
    PACKED.form("matmul.fixed"),
    PACKED_PARALLEL.form("matmul.fixed"),
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    AMX.form("matmul.fixed"),
];

const PLAIN: Implementation = Implementation::new(
    "matmul",
    "plain",
    "three loops, the definition",
    &[
        MultiplyF32(plain::matmul),
        MultiplyBf16(plain::matmul),
        MultiplyF16(plain::matmul),
        MultiplyI8(plain::matmul),
    ],
);

const PACKED: Implementation = Implementation::new(
    "matmul",
    "packed",
    "packed panels and a register tile, blocked for the caches",
    &[
        MultiplyF32(packed::matmul),
        MultiplyBf16(packed::matmul),
        MultiplyF16(packed::matmul),
        MultiplyI8(packed::matmul),
    ],
)
.vector();

const PACKED_PARALLEL: Implementation = Implementation::new(
    "matmul",
    "packed-parallel",
    "panels packed together, tiles of C dealt to all threads",
    &[
        MultiplyF32(packed_parallel::matmul),
        MultiplyBf16(packed_parallel::matmul),
        MultiplyF16(packed_parallel::matmul),
        MultiplyI8(packed_parallel::matmul),
    ],
)
.vector()
.parallel();

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const AMX: Implementation = Implementation::new(
    "matmul",
    "amx",
    "tile registers: 32 by 32 sums from packed strips, all threads",
    &[MultiplyBf16(amx::matmul), MultiplyI8(amx::matmul)],
)
.parallel()
.if_available(amx::is_available);

/// How B lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// \[n,k\]: the rows of B are the columns of the product (`matmul`).
    Transposed,
    /// \[k,n\] (`matmul.nn`).
    Straight,
}
