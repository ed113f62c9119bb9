//! Tile registers: the matrix unit multiplies 16 rows by 16 columns at once.
//!
//! Over the packed kernel: bf16 and i8 are multiplied as they are, two or four
//! to a number of 32 bits, and one instruction does the work of hundreds. What
//! limits is loading tiles, so four sums share four tiles a step, and every line
//! of a tile is asked for two steps before. B is packed once per call, A block by
//! block: its strips stay in the second cache while those of B pass by, which
//! come from farther away and are asked for in time.
//!
//! The unit takes subnormal numbers for zero. Products in which that could
//! show are left to [`super::packed_parallel`], as are those of a processor
//! without the unit.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use half::bf16;

use super::block::Block;
use super::packed::pieces;
use super::tile_packing::{self, Bytes, STEP, STRIP, Source};
use super::{Factor, Form, Term, packed_parallel};
use crate::lanes::Avx512;
use crate::scratch::Scratch;
use crate::tiles::{Ahead, MAX_STEPS, TILE, TILE_ROWS, TileProduct, Tiles};
use crate::{Cpu, Product};

/// Whether this processor can run the kernels of this file.
pub fn is_available() -> bool {
    Tiles::detect().is_some()
}

/// A type that the matrix unit multiplies: bf16 or i8.
#[expect(private_bounds, reason = "the trait is closed")]
pub trait TileFactor: Factor + Bytes + TileProduct<Sum = <Self as Term>::Total> {
    /// Whether no product or sum can be subnormal, given the codes of the
    /// smallest factors that are not zero.
    fn stays_normal(a: u16, b: u16) -> bool;
}

/// C = A·Bᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::amx::matmul};
///
/// let mut c = [0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul(&Cpu::new(2), &[1i8, 2, 3], &[1, 0, 0, 1, 1, 1], &mut c, shape);
/// assert_eq!(c, [1, 6]);
/// ```
pub fn matmul<T: TileFactor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    if !multiply(cpu, Form::Transposed, a, b, c, shape) {
        packed_parallel::matmul(cpu, a, b, c, shape);
    }
}

/// C = A·B.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::amx::matmul_nn};
///
/// let mut c = [0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul_nn(&Cpu::new(2), &[1i8, 2, 3], &[1, 1, 0, 1, 0, 1], &mut c, shape);
/// assert_eq!(c, [1, 6]);
/// ```
pub fn matmul_nn<T: TileFactor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    if !multiply(cpu, Form::Straight, a, b, c, shape) {
        packed_parallel::matmul_nn(cpu, a, b, c, shape);
    }
}

/// Rows of C in a block, so that a piece of their strips stays in a second
/// cache of 2 MiB while the strips of B pass by.
const ROWS: usize = 256;
/// Steps of a sum between two visits to its tiles.
const STEPS: usize = MAX_STEPS;
/// Sums in four tiles.
const SQUARE: usize = 4 * TILE;
/// Numbers in the packed columns of B at a time: 64 MiB.
const PACKED: usize = 16 << 20;
/// Packed numbers that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// Whether it was done.
pub(super) fn multiply<T: TileFactor>(
    cpu: &Cpu,
    form: Form,
    a: &[T],
    b: &[T],
    c: &mut [T::Output],
    shape: Product,
) -> bool {
    shape.check(a.len(), b.len(), c.len());
    let Product { m, n, k } = shape;
    if k == 0 {
        return false;
    }
    let c = Block::new(c, m, n);
    let strip_length = tile_packing::steps::<T>(k) * STEP;
    let mut groups = pieces(0..n, (PACKED / strip_length).max(1) * STRIP);
    groups.all(|group| match pack_columns(cpu, form, b, shape, group.clone()) {
        Some(strips) => multiply_strips(cpu, a, &strips, &c, shape, group),
        None => false,
    })
}

/// Columns of B in strips, and the smallest of their factors that is not zero, as a code.
pub(super) struct Strips {
    pub(super) numbers: Scratch<i32>,
    smallest: u16,
}

/// The strips of some columns of B; `None` without the unit.
pub(super) fn pack_columns<T: TileFactor>(
    cpu: &Cpu,
    form: Form,
    b: &[T],
    shape: Product,
    group: Range<usize>,
) -> Option<Strips> {
    let (_, lanes) = Tiles::detect().zip(Avx512::detect())?;
    let strip_length = tile_packing::steps::<T>(shape.k) * STEP;
    let mut numbers = Scratch::take(group.len().div_ceil(STRIP) * strip_length);
    let smallest = AtomicU16::new(u16::MAX);
    cpu.pool.run_pieces(&mut numbers, strip_length, PIECE, |offset, strips| {
        let start = group.start + offset / strip_length * STRIP;
        let cols = start..group.end.min(start + strips.len() / strip_length * STRIP);
        // SAFETY: the token `lanes` proves the features of the function.
        let code = unsafe { tile_packing::pack(lanes, Source::B(b, form), shape, cols, strips) };
        smallest.fetch_min(code, Ordering::Relaxed);
    });
    Some(Strips { numbers, smallest: smallest.into_inner() })
}

/// The columns `group` of C from their strips; whether it was done.
pub(super) fn multiply_strips<T: TileFactor>(
    cpu: &Cpu,
    a: &[T],
    strips: &Strips,
    c: &Block<'_, T::Output>,
    shape: Product,
    group: Range<usize>,
) -> bool {
    let Some((tiles, lanes)) = Tiles::detect().zip(Avx512::detect()) else { return false };
    let m = shape.m;
    let strip_length = tile_packing::steps::<T>(shape.k) * STEP;
    let normal = AtomicBool::new(true);
    let Strips { numbers, smallest } = strips;
    let (numbers, smallest) = (&**numbers, *smallest);
    let (height, width) = block_size(m, group.len(), cpu.pool.threads());
    let across = group.len().div_ceil(width);
    cpu.pool.run(across * m.div_ceil(height), |task| {
        let (row, col) = (task / across * height, task % across * width);
        let rows = row..m.min(row + height);
        let cols = group.start + col..group.end.min(group.start + col + width);
        let strips = &numbers[col / STRIP * strip_length..][..cols.len().div_ceil(STRIP) * strip_length];
        let mut packed = Scratch::take(rows.len().div_ceil(STRIP) * strip_length);
        // SAFETY: the token `lanes` proves the features of the function.
        let code = unsafe { tile_packing::pack(lanes, Source::A(a), shape, rows.clone(), &mut packed) };
        if !T::stays_normal(code, smallest) {
            return normal.store(false, Ordering::Relaxed);
        }
        // SAFETY: every task is run once, and the blocks of two tasks do not overlap.
        let c = unsafe { c.part(rows, cols) };
        // SAFETY: the token `lanes` proves the features of the function.
        unsafe { multiply_block::<T>(tiles, lanes, &packed, strips, strip_length, c) };
    });
    normal.into_inner()
}

/// Rows and columns of a block, so that there are four blocks for every thread
/// where C is large enough. A block packs its rows of A, so it is wide.
fn block_size(m: usize, n: usize, threads: usize) -> (usize, usize) {
    let (mut rows, mut cols) = (ROWS, n.next_multiple_of(STRIP));
    let blocks = |rows, cols| m.div_ceil(rows) * n.div_ceil(cols);
    while blocks(rows, cols) < 4 * threads && cols > 4 * STRIP {
        cols = (cols / 2).next_multiple_of(STRIP);
    }
    while blocks(rows, cols) < 4 * threads && rows > 2 * STRIP {
        rows /= 2;
    }
    (rows, cols)
}

/// A block of C from strips of A and B.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
fn multiply_block<T: TileFactor>(
    tiles: Tiles,
    lanes: Avx512,
    a: &[i32],
    b: &[i32],
    strip_length: usize,
    mut c: Block<'_, T::Output>,
) {
    let (down, across) = (a.len() / strip_length, b.len() / strip_length);
    let pieces = strip_length.div_ceil(STEPS * STEP);
    // Sums of which there is one piece only leave at once.
    let mut sums = Scratch::take(if pieces == 1 { SQUARE } else { down * across * SQUARE });
    let configured = tiles.configure();
    for first in (0..strip_length).step_by(STEPS * STEP) {
        let depth = first..strip_length.min(first + STEPS * STEP);
        for (col, b) in b.chunks_exact(strip_length).enumerate() {
            let b = &b[depth.clone()];
            for (row, a) in a.chunks_exact(strip_length).enumerate() {
                let a = &a[depth.clone()];
                let slot = if pieces == 1 { 0 } else { col * down + row };
                let sums = &mut sums[slot * SQUARE..][..SQUARE];
                // A share of the next strip of B for each strip of A.
                let read = b.as_ptr().wrapping_add(strip_length + row * (b.len() / down));
                let mut ahead = Ahead { read, written: [b.as_ptr().cast(); 2 * MAX_STEPS] };
                let is_last = depth.end == strip_length;
                if is_last {
                    lines_of_square(row * STRIP, col * STRIP, &mut c, &mut ahead.written);
                }
                T::sum(&configured, a, b, &ahead, first > 0, sums);
                if is_last {
                    round_square::<T>(lanes, sums, row * STRIP, col * STRIP, &mut c);
                }
            }
        }
    }
    drop(configured);
}

/// The lines of `c` that `round_square` will write.
#[inline]
fn lines_of_square<O>(row: usize, col: usize, c: &mut Block<'_, O>, lines: &mut [*const u8]) {
    let cols = col..c.cols().min(col + STRIP);
    for (row, ends) in (row..c.rows()).zip(lines.chunks_exact_mut(2).take(STRIP)) {
        let row = &c.row(row)[cols.clone()];
        ends[0] = row.as_ptr().cast();
        ends[1] = (&raw const row[row.len() - 1]).cast();
    }
}

/// Rounds four tiles of sums to their place in `c`, as far as they lie in it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
fn round_square<T: TileFactor>(
    lanes: Avx512,
    sums: &[T::Total],
    row: usize,
    col: usize,
    c: &mut Block<'_, T::Output>,
) {
    let (upper, lower) = sums.split_at(2 * TILE);
    for (half, tiles) in [upper, lower].into_iter().enumerate() {
        let (left, right) = tiles.split_at(TILE);
        let lines = left.chunks_exact(TILE_ROWS).zip(right.chunks_exact(TILE_ROWS));
        for (row, (left, right)) in (row + half * TILE_ROWS..c.rows()).zip(lines) {
            let target = &mut c.row(row)[col..];
            let (first, rest) = target.split_at_mut(target.len().min(TILE_ROWS));
            let rest_length = rest.len().min(TILE_ROWS);
            T::round_row(lanes, &left[..first.len()], first);
            T::round_row(lanes, &right[..rest_length], &mut rest[..rest_length]);
        }
    }
}

impl TileFactor for bf16 {
    fn stays_normal(a: u16, b: u16) -> bool {
        // A product is a multiple of the product of the smallest last places,
        // and so is every sum. Seven bits lie below the first of a factor.
        let exponent = |code: u16| i32::from(code >> 7) - 127;
        let (a, b) = (exponent(a), exponent(b));
        a >= -126 && b >= -126 && (a - 7) + (b - 7) >= -126
    }
}

impl TileFactor for i8 {
    fn stays_normal(_a: u16, _b: u16) -> bool {
        true
    }
}
