//! Sixteen lanes of AVX-512; partial loads and stores are masked.

use std::arch::x86_64::*;

use super::transpose::transpose_16x16;
use super::{Avx2, Lanes, MAX_LANES};

/// Token: AVX-512 F, BW, VL and DQ were detected on this processor.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

const LANES: usize = 16;

/// The low `count` bits.
#[inline(always)]
fn mask(count: usize) -> __mmask16 {
    assert!(count <= LANES);
    ((1u32 << count) - 1) as __mmask16
}

impl Avx512 {
    /// The token, where the processor has the instructions.
    pub fn detect() -> Option<Self> {
        let detected = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && Avx2::detect().is_some();
        detected.then_some(Self(()))
    }

    /// bf16 codes, rounded to nearest even; NaN stays a quiet NaN.
    /// (`vcvtneps2bf16` would flush subnormals.)
    #[inline(always)]
    fn round_bf16(self, v: __m512) -> __m256i {
        // SAFETY: the token proves AVX-512 F and BW.
        unsafe {
            let bits = _mm512_castps_si512(v);
            let top = _mm512_srli_epi32::<16>(bits);
            let odd = _mm512_and_si512(top, _mm512_set1_epi32(1));
            let bias = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
            let rounded = _mm512_srli_epi32::<16>(_mm512_add_epi32(bits, bias));
            let quiet = _mm512_set1_epi32(0x40);
            let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(v, v);
            _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(rounded, is_nan, top, quiet))
        }
    }

    #[inline(always)]
    fn round_f16(self, v: __m512) -> __m256i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(v) }
    }

    #[inline(always)]
    fn load_codes(self, x: &[u16]) -> __m256i {
        let x = &x[..LANES];
        // SAFETY: `x` holds 16 codes, 32 bytes; the load is unaligned.
        unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_codes(self, v: __m256i, y: &mut [u16]) {
        let y = &mut y[..LANES];
        // SAFETY: `y` holds 16 codes, 32 bytes; the store is unaligned.
        unsafe { _mm256_storeu_si256(y.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn stream_codes(self, v: __m256i, y: &mut [u16]) {
        let target: *mut __m256i = y[..LANES].as_mut_ptr().cast();
        if target.is_aligned() {
            // SAFETY: 32 bytes of `y`, and the address is a multiple of 32.
            unsafe { _mm256_stream_si256(target, v) }
        } else {
            self.store_codes(v, y);
        }
    }
}

impl Lanes for Avx512 {
    const LANES: usize = LANES;
    const TILE_ROWS: usize = 14;

    type F = __m512;
    type I = __m512i;
    type M = __mmask16;
    type Tile<V: Copy> = [V; 14];
    type Square<V: Copy> = [V; LANES];

    #[inline(always)]
    fn square<V: Copy>(self, value: V) -> [V; LANES] {
        [value; LANES]
    }
    #[inline(always)]
    fn transpose(self, rows: [__m512; LANES]) -> [__m512; LANES] {
        // SAFETY: the token proves AVX-512 F.
        unsafe { transpose_16x16(rows) }
    }
    #[inline(always)]
    fn transpose_i32(self, rows: [__m512i; LANES]) -> [__m512i; LANES] {
        // `map` with a cast would call a function for each row.
        // SAFETY: the token proves AVX-512 F; both arrays are the same plain bits.
        unsafe {
            let floats = std::mem::transmute::<[__m512i; LANES], [__m512; LANES]>(rows);
            std::mem::transmute::<[__m512; LANES], [__m512i; LANES]>(transpose_16x16(floats))
        }
    }

    #[inline(always)]
    fn tile<V: Copy>(self, value: V) -> [V; 14] {
        [value; 14]
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_div_ps(a, b) }
    }
    #[inline(always)]
    fn sqrt(self, v: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_sqrt_ps(v) }
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_min_ps(a, b) }
    }
    #[inline(always)]
    fn round(self, v: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(v) }
    }
    #[inline(always)]
    fn scale(self, v: __m512, n: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_scalef_ps(v, n) }
    }
    #[inline(always)]
    fn reciprocal(self, v: __m512) -> __m512 {
        // Fourteen bits, and a step that doubles them: a division of this width takes as long as twenty products.
        // SAFETY: the token proves AVX-512 F.
        unsafe {
            let near = _mm512_rcp14_ps(v);
            let error = _mm512_fnmadd_ps(v, near, self.splat(1.0));
            _mm512_fmadd_ps(near, error, near)
        }
    }
    #[inline(always)]
    fn less(self, a: __m512, b: __m512) -> __mmask16 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
    }
    #[inline(always)]
    fn select(self, which: __mmask16, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_mask_blend_ps(which, b, a) }
    }
    #[inline(always)]
    fn interleave(self, a: __m512, b: __m512) -> [__m512; 2] {
        // SAFETY: the token proves AVX-512 F.
        unsafe {
            let first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
            [_mm512_permutex2var_ps(a, first, b), _mm512_permutex2var_ps(a, second, b)]
        }
    }
    #[inline(always)]
    fn swap_pairs(self, v: __m512) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_permute_ps::<0b10_11_00_01>(v) }
    }
    #[inline(always)]
    fn all(self, which: __mmask16) -> bool {
        which == __mmask16::MAX
    }
    #[inline(always)]
    fn to_bits(self, v: __m512) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_castps_si512(v) }
    }
    #[inline(always)]
    fn of_bits(self, v: __m512i) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_castsi512_ps(v) }
    }
    #[inline(always)]
    fn of_i32(self, v: __m512i) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_cvtepi32_ps(v) }
    }
    #[inline(always)]
    fn sum(self, v: __m512) -> f32 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_reduce_add_ps(v) }
    }
    #[inline(always)]
    fn largest(self, v: __m512) -> f32 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_reduce_max_ps(v) }
    }

    #[inline(always)]
    fn load_f32(self, x: &[f32]) -> __m512 {
        let x = &x[..LANES];
        // SAFETY: `x` holds 16 numbers; the load is unaligned.
        unsafe { _mm512_loadu_ps(x.as_ptr()) }
    }
    #[inline(always)]
    fn store_f32(self, v: __m512, y: &mut [f32]) {
        let y = &mut y[..LANES];
        // SAFETY: `y` holds 16 numbers; the store is unaligned.
        unsafe { _mm512_storeu_ps(y.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn load_bf16(self, x: &[u16]) -> __m512 {
        let codes = self.load_codes(x);
        // SAFETY: the token proves AVX-512 F.
        unsafe {
            let wide = _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(codes));
            _mm512_castsi512_ps(wide)
        }
    }
    #[inline(always)]
    fn store_bf16(self, v: __m512, y: &mut [u16]) {
        self.store_codes(self.round_bf16(v), y);
    }
    #[inline(always)]
    fn load_f16(self, x: &[u16]) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_cvtph_ps(self.load_codes(x)) }
    }
    #[inline(always)]
    fn store_f16(self, v: __m512, y: &mut [u16]) {
        self.store_codes(self.round_f16(v), y);
    }

    #[inline(always)]
    fn splat_i32(self, value: i32) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_set1_epi32(value) }
    }
    #[inline(always)]
    fn add_i32(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_add_epi32(a, b) }
    }
    #[inline(always)]
    fn sub_i32(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_sub_epi32(a, b) }
    }
    #[inline(always)]
    fn mul_wide(self, a: __m512i, b: __m512i) -> [__m512i; 2] {
        // SAFETY: the token proves AVX-512 F.
        unsafe {
            let even = _mm512_mul_epu32(a, b);
            let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            // The lower halves of odd products beside those of even ones, and the upper the other way round.
            let low = _mm512_mask_shuffle_epi32::<0b10_10_00_00>(even, 0xaaaa, odd);
            [low, _mm512_mask_shuffle_epi32::<0b11_11_01_01>(odd, 0x5555, even)]
        }
    }
    #[inline(always)]
    fn below(self, a: __m512i, b: __m512i) -> __mmask16 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_cmplt_epu32_mask(a, b) }
    }
    #[inline(always)]
    fn and_i32(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    fn or_i32(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_or_si512(a, b) }
    }
    #[inline(always)]
    fn xor_i32(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    fn shift_left(self, v: __m512i, count: i32) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_sllv_epi32(v, _mm512_set1_epi32(count)) }
    }
    #[inline(always)]
    fn shift_right(self, v: __m512i, count: i32) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_srlv_epi32(v, _mm512_set1_epi32(count)) }
    }
    #[inline(always)]
    fn load_i32(self, x: &[i32]) -> __m512i {
        let x = &x[..LANES];
        // SAFETY: `x` holds 16 numbers; the load is unaligned.
        unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store_i32(self, v: __m512i, y: &mut [i32]) {
        let y = &mut y[..LANES];
        // SAFETY: `y` holds 16 numbers; the store is unaligned.
        unsafe { _mm512_storeu_si512(y.as_mut_ptr().cast(), v) }
    }
    #[inline(always)]
    fn load_u16(self, x: &[u16]) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_cvtepu16_epi32(self.load_codes(x)) }
    }
    #[inline(always)]
    fn store_u16(self, v: __m512i, y: &mut [u16]) {
        // SAFETY: the token proves AVX-512 F.
        self.store_codes(unsafe { _mm512_cvtepi32_epi16(v) }, y);
    }
    #[inline(always)]
    fn load_pairs(self, x: &[i8]) -> __m512i {
        let x = &x[..2 * LANES];
        // SAFETY: `x` holds 32 bytes; the load is unaligned.
        unsafe { _mm512_cvtepi8_epi16(_mm256_loadu_si256(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn load_pairs_of(self, first: &[i8], second: &[i8]) -> __m512i {
        let (first, second) = (&first[..LANES], &second[..LANES]);
        // SAFETY: both hold 16 bytes; the loads are unaligned.
        unsafe {
            let low = _mm512_cvtepi8_epi32(_mm_loadu_si128(first.as_ptr().cast()));
            let high = _mm512_cvtepi8_epi32(_mm_loadu_si128(second.as_ptr().cast()));
            _mm512_mask_blend_epi16(0xaaaa_aaaa, low, _mm512_slli_epi32::<16>(high))
        }
    }
    #[inline(always)]
    fn load_i8(self, x: &[i8]) -> __m512i {
        let x = &x[..LANES];
        // SAFETY: `x` holds 16 bytes; the load is unaligned.
        unsafe { _mm512_cvtepi8_epi32(_mm_loadu_si128(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn store_i8(self, v: __m512i, y: &mut [i8]) {
        let y = &mut y[..LANES];
        // SAFETY: `y` holds 16 bytes; the store is unaligned.
        unsafe { _mm_storeu_si128(y.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(v)) }
    }
    #[inline(always)]
    fn look_up(self, [numbers, _]: [__m512; 2], places: __m512i) -> __m512 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_permutexvar_ps(places, numbers) }
    }
    #[inline(always)]
    fn sum_i32(self, v: __m512i) -> i32 {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_reduce_add_epi32(v) }
    }
    #[inline(always)]
    fn dot_pairs(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 BW.
        unsafe { _mm512_add_epi32(acc, _mm512_madd_epi16(a, b)) }
    }

    #[inline(always)]
    fn load_partial_f32(self, x: &[f32], fill: f32) -> __m512 {
        // SAFETY: the mask admits `x.len()` elements, all of them in `x`.
        unsafe { _mm512_mask_loadu_ps(self.splat(fill), mask(x.len()), x.as_ptr()) }
    }
    #[inline(always)]
    fn store_partial_f32(self, v: __m512, y: &mut [f32]) {
        // SAFETY: the mask admits `y.len()` elements, all of them in `y`.
        unsafe { _mm512_mask_storeu_ps(y.as_mut_ptr(), mask(y.len()), v) }
    }
    #[inline(always)]
    fn load_partial_u16(self, x: &[u16], fill: u16) -> [u16; MAX_LANES] {
        // SAFETY: the mask admits `x.len()` elements, all of them in `x`; the
        // vector and the array are both 32 bytes of plain integers.
        unsafe {
            let fill = _mm256_set1_epi16(fill.cast_signed());
            let codes = _mm256_mask_loadu_epi16(fill, mask(x.len()), x.as_ptr().cast());
            std::mem::transmute::<__m256i, [u16; MAX_LANES]>(codes)
        }
    }
    #[inline(always)]
    fn store_partial_u16(self, v: [u16; MAX_LANES], y: &mut [u16]) {
        // SAFETY: the mask admits `y.len()` elements, all of them in `y`; the
        // vector and the array are both 32 bytes of plain integers.
        unsafe {
            let codes = std::mem::transmute::<[u16; MAX_LANES], __m256i>(v);
            _mm256_mask_storeu_epi16(y.as_mut_ptr().cast(), mask(y.len()), codes);
        }
    }
    #[inline(always)]
    fn load_partial_i32(self, x: &[i32]) -> __m512i {
        // SAFETY: the mask admits `x.len()` elements, all of them in `x`.
        unsafe { _mm512_maskz_loadu_epi32(mask(x.len()), x.as_ptr()) }
    }
    #[inline(always)]
    fn store_partial_i32(self, v: __m512i, y: &mut [i32]) {
        // SAFETY: the mask admits `y.len()` elements, all of them in `y`.
        unsafe { _mm512_mask_storeu_epi32(y.as_mut_ptr(), mask(y.len()), v) }
    }

    #[inline(always)]
    fn stream_f32(self, v: __m512, y: &mut [f32]) {
        let target: *mut __m512 = y[..LANES].as_mut_ptr().cast();
        if target.is_aligned() {
            // SAFETY: 64 bytes of `y`, and the address is a multiple of 64.
            unsafe { _mm512_stream_ps(target.cast(), v) }
        } else {
            self.store_f32(v, y);
        }
    }
    #[inline(always)]
    fn stream_bf16(self, v: __m512, y: &mut [u16]) {
        self.stream_codes(self.round_bf16(v), y);
    }
    #[inline(always)]
    fn stream_f16(self, v: __m512, y: &mut [u16]) {
        self.stream_codes(self.round_f16(v), y);
    }
    #[inline(always)]
    fn prefetch<T>(self, x: *const T) {
        // SAFETY: SSE is part of x86-64, and a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(x.cast()) }
    }
    #[inline(always)]
    fn prefetch_second<T>(self, x: *const T) {
        // SAFETY: SSE is part of x86-64, and a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(x.cast()) }
    }
    #[inline(always)]
    fn fence(self) {
        // SAFETY: SSE is part of x86-64.
        unsafe { _mm_sfence() }
    }
}
