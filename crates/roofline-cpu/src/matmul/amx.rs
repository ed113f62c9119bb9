//! Tile registers: the matrix unit multiplies 16 rows by 16 columns at once.
//!
//! Over the packed kernel: bf16 and i8 are multiplied as they are, two or four
//! to a number of 32 bits, and one instruction does the work of hundreds. What
//! limits is loading tiles, so four sums share four tiles a step. B is packed
//! once per call, a block of A for each block of C; C is summed in pieces of
//! the depth, so that the strips that are read again come from near caches.
//!
//! The unit takes subnormal numbers for zero. Products in which that could
//! show are left to [`super::packed_parallel`], as are those of a processor
//! without the unit.

use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use half::bf16;

use super::block::Block;
use super::packed::pieces;
use super::tile_packing::{Bytes, STEP, STRIP, pack_columns, pack_rows};
use super::{Factor, Form, packed_parallel};
use crate::lanes::{Avx512, Lanes};
use crate::scratch::Scratch;
use crate::tiles::{TILE, TILE_ROWS, TileProduct, Tiles};
use crate::{Cpu, Product, Vectorize};

/// Whether this processor can run the kernels of this file.
pub fn is_available() -> bool {
    Tiles::detect().is_some()
}

/// A type that the matrix unit multiplies: bf16 or i8.
#[expect(private_bounds, reason = "the trait is closed")]
pub trait TileFactor: Factor + Bytes + TileProduct<Sum = <Self as Factor>::Number> {
    /// Whether no product or sum of these factors can be subnormal, but zero.
    fn is_normal(cpu: &Cpu, a: &[Self], b: &[Self]) -> bool;
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

/// Rows and columns of C in a block, at most.
const BLOCK: usize = 512;
/// Steps of a sum between two visits to its tile.
const STEPS: usize = 16;
/// Numbers in the packed columns of B at a time: 64 MiB.
const PACKED: usize = 16 << 20;
/// Packed numbers that are worth handing to another thread.
const PACK: usize = 1 << 13;

/// Whether it was done.
fn multiply<T: TileFactor>(
    cpu: &Cpu,
    form: Form,
    a: &[T],
    b: &[T],
    c: &mut [T::Output],
    shape: Product,
) -> bool {
    shape.check(a.len(), b.len(), c.len());
    let (Some(tiles), Some(lanes)) = (Tiles::detect(), Avx512::detect()) else { return false };
    let Product { m, n, k } = shape;
    if k == 0 || !T::is_normal(cpu, a, b) {
        return false;
    }
    let c = Block::new(c, m, n);
    let strip_length = k.div_ceil(TILE_ROWS * T::PER_NUMBER) * STEP;
    let side = block_side(m, n, cpu.pool.threads());
    for group in pieces(0..n, (PACKED / strip_length * STRIP / BLOCK).max(1) * BLOCK) {
        let mut strips = Scratch::take(group.len().div_ceil(STRIP) * strip_length);
        cpu.pool.run_pieces(&mut strips, strip_length, PACK, |offset, strips| {
            let first = group.start + offset / strip_length * STRIP;
            let cols = first..group.end.min(first + strips.len() / strip_length * STRIP);
            // SAFETY: the token `lanes` proves the features of the function.
            unsafe { pack_columns(lanes, b, form, shape, cols, strips) };
        });
        let strips = &*strips;
        let across = group.len().div_ceil(side);
        cpu.pool.run(across * m.div_ceil(side), |task| {
            let (row, col) = (task / across * side, task % across * side);
            let rows = row..m.min(row + side);
            let cols = group.start + col..group.end.min(group.start + col + side);
            let b = &strips[col / STRIP * strip_length..][..cols.len().div_ceil(STRIP) * strip_length];
            // SAFETY: every task is run once, and the blocks of two tasks do not overlap.
            let c = unsafe { c.part(rows.clone(), cols) };
            // SAFETY: the token `lanes` proves the features of the function.
            unsafe { multiply_block(tiles, lanes, a, k, rows, b, c) };
        });
    }
    true
}

/// The side of a block, so that there are four for every thread where C is
/// large enough.
fn block_side(m: usize, n: usize, threads: usize) -> usize {
    let mut side = BLOCK;
    while side > 2 * STRIP && m.div_ceil(side) * n.div_ceil(side) < 4 * threads {
        side /= 2;
    }
    side
}

/// Rows `rows` of A times the packed columns `b`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
fn multiply_block<T: TileFactor>(
    tiles: Tiles,
    lanes: Avx512,
    a: &[T],
    k: usize,
    rows: Range<usize>,
    b: &[i32],
    mut c: Block<'_, T::Output>,
) {
    let all_steps = k.div_ceil(TILE_ROWS * T::PER_NUMBER);
    let (down, across) = (rows.len().div_ceil(STRIP), c.cols().div_ceil(STRIP));
    let mut packed = Scratch::take(down * STEPS.min(all_steps) * STEP);
    let mut sums = Scratch::take(down * across * 4 * TILE);
    let configured = tiles.configure();
    for first in (0..all_steps).step_by(STEPS) {
        let steps = STEPS.min(all_steps - first);
        let packed = &mut packed[..down * steps * STEP];
        pack_rows(a, k, rows.clone(), first, steps, packed);
        let mut sums = sums.chunks_exact_mut(4 * TILE);
        for b in b.chunks_exact(all_steps * STEP) {
            let b = &b[first * STEP..][..steps * STEP];
            for (a, sums) in packed.chunks_exact(steps * STEP).zip(&mut sums) {
                T::sum(&configured, a, b, first > 0, sums);
            }
        }
    }
    drop(configured);
    for (index, sums) in sums.chunks_exact(4 * TILE).enumerate() {
        let (col, row) = (index / down * STRIP, index % down * STRIP);
        for (tile, sums) in sums.chunks_exact(TILE).enumerate() {
            let (row, col) = (row + tile / 2 * TILE_ROWS, col + tile % 2 * TILE_ROWS);
            let cols = col.min(c.cols())..c.cols().min(col + TILE_ROWS);
            for (row, sums) in (row..c.rows()).zip(sums.chunks_exact(TILE_ROWS)) {
                T::round_row(lanes, &sums[..cols.len()], &mut c.row(row)[cols.clone()]);
            }
        }
    }
}

impl TileFactor for bf16 {
    fn is_normal(cpu: &Cpu, a: &[bf16], b: &[bf16]) -> bool {
        // All products are multiples of that of the smallest last places, and
        // so are all sums. Eight bits of each factor lie above its last place.
        let exponent = |x| i32::from(smallest_code(cpu, x) >> 7) - 127;
        let (a, b) = (exponent(a), exponent(b));
        a >= -126 && b >= -126 && a - 7 + b - 7 >= -126
    }
}

impl TileFactor for i8 {
    fn is_normal(_cpu: &Cpu, _a: &[i8], _b: &[i8]) -> bool {
        true
    }
}

/// The code of the smallest magnitude that is not zero; a large one if all are zero.
fn smallest_code(cpu: &Cpu, x: &[bf16]) -> u16 {
    const PIECE: usize = 1 << 16;
    let smallest = AtomicU16::new(u16::MAX);
    cpu.pool.run(x.len().div_ceil(PIECE), |piece| {
        let piece = &x[piece * PIECE..x.len().min((piece + 1) * PIECE)];
        smallest.fetch_min(cpu.isa.run(SmallestCode(piece)), Ordering::Relaxed);
    });
    smallest.into_inner()
}

struct SmallestCode<'a>(&'a [bf16]);

impl Vectorize for SmallestCode<'_> {
    type Output = u16;
    #[inline(always)]
    fn run<L: Lanes>(self, _lanes: L) -> u16 {
        // Less one, so that zero becomes the largest.
        let less_one = self.0.iter().map(|x| (x.to_bits() & 0x7fff).wrapping_sub(1));
        less_one.fold(0x7fff, u16::min) + 1
    }
}
