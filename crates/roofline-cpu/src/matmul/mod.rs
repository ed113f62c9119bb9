//! `matmul`: C = A·Bᵀ with weights B \[n,k\]; `matmul.nn`: C = A·B with B \[k,n\]; `matmul.tt` and `matmul.tn`: the same
//! with A \[k,m\].
//!
//! f32, bf16 and f16 sum in f32 and round once at the end, but for `f16+f16`; i8 sums exactly in
//! i32. 2·m·n·k operations on (m + n)·k + m·n elements: from a few dozen rows
//! on, arithmetic is the limit, provided that a number fetched from a cache
//! is used many times. That reuse is what the ladder is about.

pub(crate) mod block;
mod factor;
pub(crate) mod packing;
mod places;
pub(crate) mod tile;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tile_packing;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod amx;
pub mod few_rows;
pub mod few_rows_parallel;
mod fixed;
pub mod mixed;
pub mod narrow;
pub mod packed;
pub mod packed_parallel;
pub mod plain;
pub mod prepacked;
pub mod turned;

use crate::bind::multiply;
use crate::catalog::{Implementation, Kernel};
use crate::{Cpu, Product, bf16, f16};
pub use factor::{Factor, Term};
pub use turned::{matmul_tn, matmul_tt};

/// The kernels of one generic function, for the types that follow it, of another that sums in f16, and of one whose weights are
/// of 16 bits beside activations of f32.
macro_rules! products {
    ($kernel:expr, $($type:ident)+ $(, $narrow:expr)? $(; $mixed:ident)?) => {
        &[
            $(Kernel::new(stringify!($type), |_, args| multiply::<$type, _>(args, $kernel)),)+
            $(Kernel::new("f16+f16", |_, args| multiply::<f16, _>(args, $narrow)),)?
            $(
                Kernel::new("w16a32", |_, args| mixed::prepare::<bf16>(args, mixed::$mixed)),
                Kernel::new("w16a32-f16", |_, args| mixed::prepare::<f16>(args, mixed::$mixed)),
            )?
        ]
    };
}

/// Kernels that pack B while they get ready.
macro_rules! fixed {
    ($prepare:ident, $($type:ident)+) => {
        &[$(Kernel::new(stringify!($type), fixed::$prepare::<$type>)),+]
    };
}

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain(
        "matmul",
        products!(plain::matmul, f32 bf16 f16 f64 i8, narrow::matmul; matmul_plain),
    ),
    Implementation::new(
        "matmul",
        "packed",
        PACKED,
        products!(packed::matmul, f32 bf16 f16 i8; matmul_packed),
    )
    .vector(),
    Implementation::new(
        "matmul",
        "packed-parallel",
        PARALLEL,
        products!(packed_parallel::matmul, f32 bf16 f16 i8; matmul_packed_parallel),
    )
    .vector()
    .parallel(),
    Implementation { kernels: products!(few_rows::matmul, f32 bf16 f16 i8; matmul_few_rows), ..FEW_ROWS },
    Implementation {
        kernels: products!(few_rows_parallel::matmul, f32 bf16 f16 i8; matmul_few_rows_parallel),
        ..FEW_ROWS_PARALLEL
    },
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    AMX,
    Implementation::new("matmul", "auto", AUTO, products!(matmul, f32 bf16 f16 i8; matmul))
        .vector()
        .parallel(),
    Implementation::plain("matmul.nn", products!(plain::matmul_nn, f32 bf16 f16 f64 i8, narrow::matmul_nn)),
    Implementation::new("matmul.nn", "packed", PACKED, products!(packed::matmul_nn, f32 bf16 f16 i8))
        .vector(),
    Implementation::new(
        "matmul.nn",
        "packed-parallel",
        PARALLEL,
        products!(packed_parallel::matmul_nn, f32 bf16 f16 i8),
    )
    .vector()
    .parallel(),
    Implementation::new("matmul.nn", "few-rows", FEW, products!(few_rows::matmul_nn, f32 bf16 f16 i8))
        .vector(),
    Implementation::new(
        "matmul.nn",
        "few-rows-parallel",
        FEW_PARALLEL,
        products!(few_rows_parallel::matmul_nn, f32 bf16 f16 i8),
    )
    .vector()
    .parallel(),
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Implementation::new("matmul.nn", "amx", TILES, products!(amx::matmul_nn, bf16 i8))
        .parallel()
        .if_available(amx::is_available),
    Implementation::new("matmul.nn", "auto", AUTO, products!(matmul_nn, f32 bf16 f16 i8)).vector().parallel(),
    Implementation::plain("matmul.tn", products!(plain::matmul_tn, f32 bf16 f16 f64 i8, narrow::matmul_tn)),
    Implementation::new("matmul.tn", "turned", TURNED, products!(matmul_tn, f32 bf16 f16 i8))
        .vector()
        .parallel(),
    Implementation::plain("matmul.tt", products!(plain::matmul_tt, f32 bf16 f16 f64 i8, narrow::matmul_tt)),
    Implementation::new("matmul.tt", "turned", TURNED, products!(matmul_tt, f32 bf16 f16 i8))
        .vector()
        .parallel(),
    Implementation::plain("matmul.fixed", products!(plain::matmul, f32 bf16 f16 f64 i8, narrow::matmul)),
    Implementation::new(
        "matmul.fixed",
        "prepacked",
        "weights packed once, a register tile, blocked for the caches",
        fixed!(prepacked, f32 bf16 f16 i8),
    )
    .vector(),
    Implementation::new(
        "matmul.fixed",
        "prepacked-parallel",
        "weights packed once, tiles of C dealt to all threads",
        fixed!(prepacked_parallel, f32 bf16 f16 i8),
    )
    .vector()
    .parallel(),
    FEW_ROWS.form("matmul.fixed"),
    FEW_ROWS_PARALLEL.form("matmul.fixed"),
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Implementation {
        about: "weights packed once for tile registers, 32 by 32 sums, all threads",
        kernels: fixed!(amx, bf16 i8),
        ..AMX.form("matmul.fixed")
    },
    Implementation::new("matmul.fixed", "auto", AUTO, fixed!(auto, f32 bf16 f16 i8)).vector().parallel(),
];

const PACKED: &str = "packed panels and a register tile, blocked for the caches";
const PARALLEL: &str = "panels packed together, tiles of C dealt to all threads";
const FEW: &str = "B read once, as it lies, for up to eight rows of A";
const FEW_PARALLEL: &str = "B read once, as it lies, each thread its own part of it";
const AUTO: &str = "the rung that suits type, shape, processor and threads";
const TURNED: &str = "A turned round first, then the rung of its other form that suits type and processor";
const TILES: &str = "tile registers: 32 by 32 sums from packed strips, all threads";

const FEW_ROWS: Implementation =
    Implementation::new("matmul", "few-rows", FEW, products!(few_rows::matmul, f32 bf16 f16 i8)).vector();

const FEW_ROWS_PARALLEL: Implementation = Implementation::new(
    "matmul",
    "few-rows-parallel",
    FEW_PARALLEL,
    products!(few_rows_parallel::matmul, f32 bf16 f16 i8),
)
.vector()
.parallel();

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const AMX: Implementation = Implementation::new("matmul", "amx", TILES, products!(amx::matmul, bf16 i8))
    .parallel()
    .if_available(amx::is_available);

/// Rows of A up to which packing B for vectors costs more than it saves.
const FEW_ROWS_MOST: usize = 32;
/// The same of packing it for tile registers.
const FEW_ROWS_BESIDE_TILES: usize = 8;

/// C = A·Bᵀ, by the rung that suits type, processor and threads.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul};
///
/// let mut c = [0.0f32; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul(&Cpu::serial(), &[1.0, 2.0, 3.0], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &mut c, shape);
/// assert_eq!(c, [1.0, 6.0]);
/// ```
pub fn matmul<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    if shape.m > FEW_ROWS_BESIDE_TILES && T::by_tiles(cpu, Form::Transposed, a, b, c, shape) {
        return;
    }
    match shape.m {
        ..=FEW_ROWS_MOST => few_rows_parallel::matmul(cpu, a, b, c, shape),
        _ => packed_parallel::matmul(cpu, a, b, c, shape),
    }
}

/// C = A·B, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul_nn};
///
/// let mut c = [0; 2];
/// matmul_nn(&Cpu::serial(), &[1i8, 2, 3], &[1, 1, 0, 1, 0, 1], &mut c, Product { m: 1, n: 2, k: 3 });
/// assert_eq!(c, [1, 6]);
/// ```
pub fn matmul_nn<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    if shape.m > FEW_ROWS_BESIDE_TILES && T::by_tiles(cpu, Form::Straight, a, b, c, shape) {
        return;
    }
    match shape.m {
        ..=FEW_ROWS_MOST => few_rows_parallel::matmul_nn(cpu, a, b, c, shape),
        _ => packed_parallel::matmul_nn(cpu, a, b, c, shape),
    }
}

/// How B lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// \[n,k\]: the rows of B are the columns of the product (`matmul`).
    Transposed,
    /// \[k,n\] (`matmul.nn`).
    Straight,
}
