//! Copies of A and B in the order in which tile registers read them.
//!
//! A number of 32 bits holds two bf16 or four i8 that follow each other in a
//! sum; a line is 16 such numbers, a tile 16 lines. A strip is 32 rows of A or
//! 32 columns of B: two tiles for each step of the sum. Beyond the edges are
//! zeros, which add nothing to a sum or meet what is never stored.

use std::arch::x86_64::*;
use std::ops::Range;

use super::Form;
use crate::Product;
use crate::lanes::{Avx512, Lanes};
use crate::tiles::{TILE, TILE_ROWS};

/// Rows of A or columns of B in a strip.
pub(super) const STRIP: usize = 2 * TILE_ROWS;
/// Numbers that a step takes in a strip.
pub(super) const STEP: usize = 2 * TILE;
/// Numbers in a line.
const LINE: usize = 16;
const LINE_BYTES: usize = 4 * LINE;

/// A type of factors that is plain bytes, a few of them in 32 bits.
///
/// # Safety
/// Every byte of a value is initialised.
pub(super) unsafe trait Bytes: Copy {
    /// Factors in 32 bits.
    const PER_NUMBER: usize = 4 / size_of::<Self>();

    fn bytes(factors: &[Self]) -> &[u8] {
        // SAFETY: the bytes of the slice, which are initialised.
        unsafe { std::slice::from_raw_parts(factors.as_ptr().cast(), size_of_val(factors)) }
    }
}

// SAFETY: 16 bits of a number.
unsafe impl Bytes for half::bf16 {}
// SAFETY: 8 bits of a number.
unsafe impl Bytes for i8 {}

/// Packs the rows `rows` of `a` \[_,k\], strip after strip, for the steps from
/// `first_step` on that the strips (of `steps` steps each) have room for.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn pack_rows<T: Bytes>(
    a: &[T],
    k: usize,
    rows: Range<usize>,
    first_step: usize,
    steps: usize,
    strips: &mut [i32],
) {
    let row_bytes = k * size_of::<T>();
    for (first_row, strip) in rows.clone().step_by(STRIP).zip(strips.chunks_exact_mut(steps * STEP)) {
        for row in 0..STRIP {
            let bytes = if first_row + row < rows.end {
                &T::bytes(a)[(first_row + row) * row_bytes..][..row_bytes]
            } else {
                &[]
            };
            for step in 0..steps {
                let line = load_line(bytes, first_step + step);
                store_line(line, &mut strip[step * STEP + row * LINE..]);
            }
        }
    }
}

/// Packs the columns `cols` of the product, strip after strip, over the whole
/// depth.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
pub(super) fn pack_columns<T: Bytes>(
    lanes: Avx512,
    b: &[T],
    form: Form,
    shape: Product,
    cols: Range<usize>,
    strips: &mut [i32],
) {
    let steps = shape.k.div_ceil(LINE * T::PER_NUMBER);
    match form {
        Form::Transposed => transpose_rows(lanes, b, shape.k, cols, steps, strips),
        Form::Straight => interleave_rows(b, shape, cols, steps, strips),
    }
}

/// B \[n,k\]: what is a row here is a column of a tile.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
fn transpose_rows<T: Bytes>(
    lanes: Avx512,
    b: &[T],
    k: usize,
    cols: Range<usize>,
    steps: usize,
    strips: &mut [i32],
) {
    let row_bytes = k * size_of::<T>();
    for (first_col, strip) in cols.clone().step_by(STRIP).zip(strips.chunks_exact_mut(steps * STEP)) {
        for tile in 0..2 {
            for step in 0..steps {
                let mut square = [_mm512_setzero_si512(); LINE];
                let first_col = first_col + tile * TILE_ROWS;
                for (col, line) in (first_col..cols.end).zip(&mut square) {
                    *line = load_line(&T::bytes(b)[col * row_bytes..][..row_bytes], step);
                }
                let tile = &mut strip[step * STEP + tile * TILE..][..TILE];
                for (line, target) in lanes.transpose_i32(square).into_iter().zip(tile.chunks_exact_mut(LINE))
                {
                    store_line(line, target);
                }
            }
        }
    }
}

/// B \[k,n\]: `PER_NUMBER` rows make one row of tiles, whole rows at a time, so that
/// memory is read in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn interleave_rows<T: Bytes>(b: &[T], shape: Product, cols: Range<usize>, steps: usize, strips: &mut [i32]) {
    let Product { n, k, .. } = shape;
    for number in 0..steps * LINE {
        let rows = k.min(number * T::PER_NUMBER)..k.min((number + 1) * T::PER_NUMBER);
        for (index, from) in cols.clone().step_by(TILE_ROWS).enumerate() {
            let to = cols.end.min(from + TILE_ROWS);
            let mut line = _mm512_setzero_si512();
            for row in rows.clone().rev() {
                let factors = load_factors(&b[row * n + from..row * n + to]);
                let older = if T::PER_NUMBER == 2 {
                    _mm512_slli_epi32::<16>(line)
                } else {
                    _mm512_slli_epi32::<8>(line)
                };
                line = _mm512_or_si512(older, factors);
            }
            let (strip, tile) = (index / 2 * steps * STEP, index % 2 * TILE);
            let (step, row) = (number / TILE_ROWS * STEP, number % TILE_ROWS * LINE);
            store_line(line, &mut strips[strip + step + tile + row..]);
        }
    }
    // An odd number of tiles leaves the second half of the last strip.
    if cols.len().div_ceil(TILE_ROWS) % 2 == 1 {
        let last = cols.len() / STRIP * steps * STEP;
        for step in strips[last..].chunks_exact_mut(STEP).take(steps) {
            step[TILE..].fill(0);
        }
    }
}

/// Line `index` of a row of bytes, zero beyond its end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_line(bytes: &[u8], index: usize) -> __m512i {
    let bytes = &bytes[bytes.len().min(index * LINE_BYTES)..];
    let mask = if bytes.len() < LINE_BYTES { (1 << bytes.len()) - 1 } else { u64::MAX };
    // SAFETY: the mask admits bytes of the slice only.
    unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
}

/// Up to 16 factors, one in each 32-bit number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_factors<T: Bytes>(factors: &[T]) -> __m512i {
    let bytes = load_line(T::bytes(&factors[..factors.len().min(TILE_ROWS)]), 0);
    if T::PER_NUMBER == 2 {
        _mm512_cvtepu16_epi32(_mm512_castsi512_si256(bytes))
    } else {
        _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bytes))
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_line(line: __m512i, target: &mut [i32]) {
    let target = &mut target[..LINE];
    // SAFETY: `target` holds 64 bytes; the store is unaligned.
    unsafe { _mm512_storeu_si512(target.as_mut_ptr().cast(), line) }
}
