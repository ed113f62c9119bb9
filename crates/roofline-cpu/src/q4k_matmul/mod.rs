//! `q4k-matmul`: Y = X·Wᵀ, weights in the bytes that GGML's Q4_K has: blocks of 256 codes of four bits, in eight parts, each
//! with a scale and an offset of six bits, which are counted in two numbers of f16. k is whole blocks.

mod codes;
pub mod decoded;
pub mod few_rows;
pub mod panels;
pub mod plain;

use crate::catalog::{Implementation, Kernel, height, rungs};
use crate::q8_matmul::{FEW, FEW_PARALLEL, FEW_ROWS, PANELS, number, prepare_raw};
use crate::{Cpu, Product};

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

/// What the rung does that writes weights out.
const DECODED: &str = "weights as f32, scales and offsets included, then packed panels on all threads";

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain(
        "q4k-matmul",
        &[Kernel::new("f32", |_, args| prepare_raw(args, plain::q4k_matmul))],
    ),
    Implementation::new(
        "q4k-matmul",
        "decoded",
        DECODED,
        &[Kernel::new("f32", |_, args| prepare_raw(args, decoded::q4k_matmul))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q4k-matmul",
        "few-rows",
        FEW,
        &[Kernel::new("f32", |_, args| prepare_raw(args, few_rows::q4k_matmul))],
    )
    .vector(),
    Implementation::new(
        "q4k-matmul",
        "few-rows-parallel",
        FEW_PARALLEL,
        &[Kernel::new("f32", |_, args| prepare_raw(args, few_rows::q4k_matmul_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q4k-matmul",
        "panels",
        PANELS,
        &[Kernel::new("f32", |_, args| prepare_raw(args, panels::q4k_matmul))],
    )
    .vector()
    .parallel(),
];

/// The same for weights that are known beforehand.
pub const FIXED: &[Implementation] = &rungs::<{ height(LADDER) }>(LADDER, "q4k-matmul.fixed");

/// What the codes of a block stand for, in their order.
fn numbers(block: &[i8]) -> impl Iterator<Item = f32> {
    let (of_scales, of_offsets) = (number(block).to_f32(), number(&block[2..]).to_f32());
    (0..BLOCK / PART).flat_map(move |index| {
        let [scale, offset] = part(&block[SCALES..CODES], index).map(f32::from);
        let (scale, offset) = (of_scales * scale, of_offsets * offset);
        // Two parts share their bytes: the first has the low halves.
        let (codes, shift) = (&block[CODES + index / 2 * PART..][..PART], index % 2 * 4);
        codes.iter().map(move |pair| scale * f32::from(*pair as u8 >> shift & 15) - offset)
    })
}

/// The scale and the offset of a part. The first four have theirs in the lower six bits of bytes 0 to 3 and 4 to 7. The others
/// have the lower four bits in the halves of bytes 8 to 11, low and high, and the upper two where the first four leave two
/// bits over.
fn part(bytes: &[i8], index: usize) -> [u8; 2] {
    let byte = |at: usize| bytes[at] as u8;
    let upper = |at: usize| byte(at) >> 6 << 4;
    match index.checked_sub(4) {
        None => [byte(index) & 63, byte(index + 4) & 63],
        Some(later) => [byte(later + 8) & 15 | upper(later), byte(later + 8) >> 4 | upper(later + 4)],
    }
}

/// Y = X·Wᵀ, by the rung that suits the number of rows.
///
/// ```
/// use roofline_cpu::{Cpu, Product, q4k_matmul};
///
/// // Scales are counted in 1 and offsets in 2.
/// let mut w = [0; 144];
/// (w[1], w[3]) = (0x3c, 0x40);
/// // The first part has the scale 3 and the offset 5, and its first code is 7; the second part has nothing.
/// (w[4], w[8], w[16]) = (3, 5, 7);
/// let (x, mut y) = ([1.0; 256], [0.0]);
/// q4k_matmul(&Cpu::serial(), &x, &w, &mut y, Product { m: 1, n: 1, k: 256 });
/// assert_eq!(y, [3.0 * 7.0 - 32.0 * (2.0 * 5.0)]);
/// ```
pub fn q4k_matmul(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    match shape.m {
        ..=FEW_ROWS => few_rows::q4k_matmul_parallel(cpu, x, w, y, shape),
        _ => panels::q4k_matmul(cpu, x, w, y, shape),
    }
}
