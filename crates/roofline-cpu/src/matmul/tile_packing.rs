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

/// What is packed: all rows of A, or all columns of B, in a range.
#[derive(Clone, Copy)]
pub(super) enum Source<'a, T> {
    /// A \[_,k\].
    A(&'a [T]),
    /// B and how it lies.
    B(&'a [T], Form),
}

/// Packs the rows of A or columns of B in `range`, strip after strip, over the
/// whole depth. Returns the smallest magnitude met that is not zero, as a code
/// of 16 bits; it means something for types of that size.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
pub(super) fn pack<T: Bytes>(
    lanes: Avx512,
    source: Source<'_, T>,
    shape: Product,
    range: Range<usize>,
    strips: &mut [i32],
) -> u16 {
    let mut smallest = Smallest::new();
    match source {
        Source::A(a) => pack_rows::<T, false>(lanes, a, shape.k, range, strips, &mut smallest),
        Source::B(b, Form::Transposed) => {
            pack_rows::<T, true>(lanes, b, shape.k, range, strips, &mut smallest);
        }
        Source::B(b, Form::Straight) => interleave_rows(b, shape, range, strips, &mut smallest),
    }
    smallest.code()
}

/// Steps of a sum of length `k`.
pub(super) fn steps<T: Bytes>(k: usize) -> usize {
    k.div_ceil(LINE * T::PER_NUMBER)
}

/// Rows of `source` \[_,k\], which are the rows of the tiles of A and the
/// columns of the tiles of B.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
fn pack_rows<T: Bytes, const TRANSPOSE: bool>(
    lanes: Avx512,
    source: &[T],
    k: usize,
    rows: Range<usize>,
    strips: &mut [i32],
    smallest: &mut Smallest,
) {
    /// Sixteen rows are too many for the processor to see where they go.
    const AHEAD: usize = 4 * LINE_BYTES;
    let row_bytes = k * size_of::<T>();
    let strip_length = steps::<T>(k) * STEP;
    for (strip, first_row) in strips.chunks_exact_mut(strip_length).zip(rows.clone().step_by(STRIP)) {
        for half in 0..2 {
            let first_row = first_row + half * TILE_ROWS;
            for (step, pair) in strip.chunks_exact_mut(STEP).enumerate() {
                let mut tile = [_mm512_setzero_si512(); TILE_ROWS];
                for (row, line) in (first_row..rows.end).zip(&mut tile) {
                    let bytes = &T::bytes(source)[row * row_bytes..][..row_bytes];
                    let bytes = &bytes[step * LINE_BYTES..];
                    lanes.prefetch(bytes.as_ptr().wrapping_add(AHEAD));
                    *line = load_line(bytes);
                    smallest.see(*line);
                }
                if TRANSPOSE {
                    tile = lanes.transpose_i32(tile);
                }
                for (line, target) in tile.into_iter().zip(pair[half * TILE..].chunks_exact_mut(LINE)) {
                    store_line(line, target);
                }
            }
        }
    }
}

/// B \[k,n\]: `PER_NUMBER` rows make one row of tiles, whole rows at a time, so
/// that memory is read in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn interleave_rows<T: Bytes>(
    b: &[T],
    shape: Product,
    cols: Range<usize>,
    strips: &mut [i32],
    smallest: &mut Smallest,
) {
    let Product { n, k, .. } = shape;
    let steps = steps::<T>(k);
    for number in 0..steps * LINE {
        let rows = k.min(number * T::PER_NUMBER)..k.min((number + 1) * T::PER_NUMBER);
        let (step, row) = (number / TILE_ROWS * STEP, number % TILE_ROWS * LINE);
        for (strip, first) in strips.chunks_exact_mut(steps * STEP).zip(cols.clone().step_by(STRIP)) {
            for half in 0..2 {
                let from = cols.end.min(first + half * TILE_ROWS);
                let to = cols.end.min(from + TILE_ROWS);
                let mut line = _mm512_setzero_si512();
                for row in rows.clone().rev() {
                    let factors = load_factors(&b[row * n + from..row * n + to]);
                    smallest.see(factors);
                    let later = if T::PER_NUMBER == 2 {
                        _mm512_slli_epi32::<16>(line)
                    } else {
                        _mm512_slli_epi32::<8>(line)
                    };
                    line = _mm512_or_si512(later, factors);
                }
                store_line(line, &mut strip[step + half * TILE + row..]);
            }
        }
    }
}

/// The smallest magnitude among codes of 16 bits, zero apart.
struct Smallest(__m512i);

impl Smallest {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new() -> Self {
        Self(_mm512_set1_epi16(-1))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn see(&mut self, codes: __m512i) {
        // Less one, so that zero becomes the largest.
        let magnitudes = _mm512_and_si512(codes, _mm512_set1_epi16(0x7fff));
        self.0 = _mm512_min_epu16(self.0, _mm512_sub_epi16(magnitudes, _mm512_set1_epi16(1)));
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn code(self) -> u16 {
        // SAFETY: both are 64 bytes of plain integers.
        let codes = unsafe { std::mem::transmute::<__m512i, [u16; 32]>(self.0) };
        codes.into_iter().fold(u16::MAX, u16::min).saturating_add(1)
    }
}

/// The first line of what is left of a row, zero beyond its end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_line(bytes: &[u8]) -> __m512i {
    let mask = if bytes.len() < LINE_BYTES { (1 << bytes.len()) - 1 } else { u64::MAX };
    // SAFETY: the mask admits bytes of the slice only.
    unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
}

/// Up to 16 factors, one in each 32-bit number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_factors<T: Bytes>(factors: &[T]) -> __m512i {
    let bytes = load_line(T::bytes(&factors[..factors.len().min(TILE_ROWS)]));
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
