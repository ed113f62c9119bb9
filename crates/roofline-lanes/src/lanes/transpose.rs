//! Squares of 32-bit lanes, transposed in registers.
//!
//! Pairs of rows are interleaved, then pairs of pairs; after that every
//! 128-bit lane holds four rows of one column, and the rest moves whole lanes.

use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose_8x8(rows: [__m256; 8]) -> [__m256; 8] {
    let mut columns = rows;
    for group in [0, 4] {
        let low = _mm256_unpacklo_ps(rows[group], rows[group + 1]);
        let high = _mm256_unpackhi_ps(rows[group], rows[group + 1]);
        let next_low = _mm256_unpacklo_ps(rows[group + 2], rows[group + 3]);
        let next_high = _mm256_unpackhi_ps(rows[group + 2], rows[group + 3]);
        columns[group] = _mm256_shuffle_ps::<0x44>(low, next_low);
        columns[group + 1] = _mm256_shuffle_ps::<0xee>(low, next_low);
        columns[group + 2] = _mm256_shuffle_ps::<0x44>(high, next_high);
        columns[group + 3] = _mm256_shuffle_ps::<0xee>(high, next_high);
    }
    let mut out = columns;
    for c in 0..4 {
        out[c] = _mm256_permute2f128_ps::<0x20>(columns[c], columns[c + 4]);
        out[c + 4] = _mm256_permute2f128_ps::<0x31>(columns[c], columns[c + 4]);
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose_16x16(rows: [__m512; 16]) -> [__m512; 16] {
    let mut columns = rows;
    for group in [0, 4, 8, 12] {
        let low = _mm512_unpacklo_ps(rows[group], rows[group + 1]);
        let high = _mm512_unpackhi_ps(rows[group], rows[group + 1]);
        let next_low = _mm512_unpacklo_ps(rows[group + 2], rows[group + 3]);
        let next_high = _mm512_unpackhi_ps(rows[group + 2], rows[group + 3]);
        columns[group] = _mm512_shuffle_ps::<0x44>(low, next_low);
        columns[group + 1] = _mm512_shuffle_ps::<0xee>(low, next_low);
        columns[group + 2] = _mm512_shuffle_ps::<0x44>(high, next_high);
        columns[group + 3] = _mm512_shuffle_ps::<0xee>(high, next_high);
    }
    let mut out = columns;
    for c in 0..4 {
        let even = _mm512_shuffle_f32x4::<0x88>(columns[c], columns[c + 4]);
        let odd = _mm512_shuffle_f32x4::<0xdd>(columns[c], columns[c + 4]);
        let next_even = _mm512_shuffle_f32x4::<0x88>(columns[c + 8], columns[c + 12]);
        let next_odd = _mm512_shuffle_f32x4::<0xdd>(columns[c + 8], columns[c + 12]);
        out[c] = _mm512_shuffle_f32x4::<0x88>(even, next_even);
        out[c + 4] = _mm512_shuffle_f32x4::<0x88>(odd, next_odd);
        out[c + 8] = _mm512_shuffle_f32x4::<0xdd>(even, next_even);
        out[c + 12] = _mm512_shuffle_f32x4::<0xdd>(odd, next_odd);
    }
    out
}
