//! `q4-matmul`: Y = X·Wᵀ, weights in blocks of 32 codes of four bits and a scale in f16, apart; `q4-matmul.raw`: in the bytes
//! that GGML's Q4_0 has, each scale before its codes. The first 16 codes of a block are the low halves of its bytes, the
//! others the high ones, and each stands for itself less 8. Codes beyond k stand for nothing. In `f32+q8`, X
//! becomes blocks of eight bits on the way.

pub mod bytes;
pub mod decoded;
pub mod few_rows;
pub mod panels;
pub mod plain;

use crate::catalog::{Implementation, Kernel, height, rungs};
use crate::q8_matmul::{
    BLOCK, BYTES, BYTES_PARALLEL, DECODED, FEW, FEW_PARALLEL, FEW_ROWS, PANELS, prepare, prepare_raw,
};
use crate::{Cpu, Product, f16};

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
    Implementation::new(
        "q4-matmul",
        "few-rows",
        FEW,
        &[Kernel::new("f32", |_, args| prepare(args, few_rows::q4_matmul))],
    )
    .vector(),
    Implementation::new(
        "q4-matmul",
        "few-rows-parallel",
        FEW_PARALLEL,
        &[Kernel::new("f32", |_, args| prepare(args, few_rows::q4_matmul_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q4-matmul",
        "bytes",
        BYTES,
        &[Kernel::new("f32+q8", |_, args| prepare(args, bytes::q4_matmul))],
    )
    .vector(),
    Implementation::new(
        "q4-matmul",
        "bytes-parallel",
        BYTES_PARALLEL,
        &[Kernel::new("f32+q8", |_, args| prepare(args, bytes::q4_matmul_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q4-matmul",
        "panels",
        PANELS,
        &[
            Kernel::new("f32", |_, args| prepare(args, panels::q4_matmul)),
            Kernel::new("f32+q8", |_, args| prepare(args, panels::q4_matmul_rounded)),
        ],
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
    Implementation::new(
        "q4-matmul.raw",
        "few-rows",
        FEW,
        &[Kernel::new("f32", |_, args| prepare_raw(args, few_rows::q4_matmul_raw))],
    )
    .vector(),
    Implementation::new(
        "q4-matmul.raw",
        "few-rows-parallel",
        FEW_PARALLEL,
        &[Kernel::new("f32", |_, args| prepare_raw(args, few_rows::q4_matmul_raw_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q4-matmul.raw",
        "bytes",
        BYTES,
        &[Kernel::new("f32+q8", |_, args| prepare_raw(args, bytes::q4_matmul_raw))],
    )
    .vector(),
    Implementation::new(
        "q4-matmul.raw",
        "bytes-parallel",
        BYTES_PARALLEL,
        &[Kernel::new("f32+q8", |_, args| prepare_raw(args, bytes::q4_matmul_raw_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q4-matmul.raw",
        "panels",
        PANELS,
        &[
            Kernel::new("f32", |_, args| prepare_raw(args, panels::q4_matmul_raw)),
            Kernel::new("f32+q8", |_, args| prepare_raw(args, panels::q4_matmul_raw_rounded)),
        ],
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

/// Y = X·Wᵀ, scales and codes of W apart, by the rung that suits the number of rows.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q4_matmul};
///
/// // The code 8 stands for 0: 9 and 10 for elements 0 and 16, 11 for element 32.
/// let mut q = [0x88u8 as i8; 32];
/// (q[0], q[16]) = (0xa9u8 as i8, 0x8bu8 as i8);
/// let (x, s, mut y) = ([1.0; 33], [2.0, 0.5].map(f16::from_f32), [0.0]);
/// q4_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 33 });
/// assert_eq!(y, [2.0 * (1.0 + 2.0) + 0.5 * 3.0]);
/// ```
pub fn q4_matmul(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    match shape.m {
        ..=FEW_ROWS => few_rows::q4_matmul_parallel(cpu, x, s, q, y, shape),
        _ => panels::q4_matmul(cpu, x, s, q, y, shape),
    }
}

/// The same, with the two bytes of each scale before its codes.
pub fn q4_matmul_raw(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    match shape.m {
        ..=FEW_ROWS => few_rows::q4_matmul_raw_parallel(cpu, x, w, y, shape),
        _ => panels::q4_matmul_raw(cpu, x, w, y, shape),
    }
}
