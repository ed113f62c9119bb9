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

pub use factor::Factor;

/// How B lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// \[n,k\]: the rows of B are the columns of the product (`matmul`).
    Transposed,
    /// \[k,n\] (`matmul.nn`).
    Straight,
}
