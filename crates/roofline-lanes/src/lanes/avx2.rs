//! Eight lanes of AVX2, with FMA and F16C.

use std::arch::x86_64::*;

use super::Lanes;
use super::transpose::transpose_8x8;

/// Token: AVX2, FMA and F16C were detected on this processor.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

const LANES: usize = 8;

impl Avx2 {
    /// The token, where the processor has the instructions.
    pub fn detect() -> Option<Self> {
        let detected = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        detected.then_some(Self(()))
    }

    #[inline(always)]
    fn floats(self, v: __m256i) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_castsi256_ps(v) }
    }

    /// bf16 codes, rounded to nearest even; NaN stays a quiet NaN.
    #[inline(always)]
    fn round_bf16(self, v: __m256) -> __m128i {
        // SAFETY: the token proves AVX2.
        unsafe {
            let bits = _mm256_castps_si256(v);
            let top = _mm256_srli_epi32::<16>(bits);
            let odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
            let bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
            let rounded = _mm256_srli_epi32::<16>(_mm256_add_epi32(bits, bias));
            let quiet = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
            let is_nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(v, v));
            let codes = _mm256_blendv_epi8(rounded, quiet, is_nan);
            _mm_packus_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes))
        }
    }

    #[inline(always)]
    fn round_f16(self, v: __m256) -> __m128i {
        // SAFETY: the token proves F16C.
        unsafe { _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(v) }
    }

    #[inline(always)]
    fn load_codes(self, x: &[u16]) -> __m128i {
        let x = &x[..LANES];
        // SAFETY: `x` holds 8 codes, 16 bytes; the load is unaligned.
        unsafe { _mm_loadu_si128(x.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_codes(self, v: __m128i, y: &mut [u16]) {
        let y = &mut y[..LANES];
        // SAFETY: `y` holds 8 codes, 16 bytes; the store is unaligned.
        unsafe { _mm_storeu_si128(y.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn stream_codes(self, v: __m128i, y: &mut [u16]) {
        let target: *mut __m128i = y[..LANES].as_mut_ptr().cast();
        if target.is_aligned() {
            // SAFETY: 16 bytes of `y`, and the address is a multiple of 16.
            unsafe { _mm_stream_si128(target, v) }
        } else {
            self.store_codes(v, y);
        }
    }
}

impl Lanes for Avx2 {
    const LANES: usize = LANES;
    const TILE_ROWS: usize = 6;

    type F = __m256;
    type I = __m256i;
    type M = __m256;
    type Tile<V: Copy> = [V; 6];
    type Square<V: Copy> = [V; LANES];

    #[inline(always)]
    fn square<V: Copy>(self, value: V) -> [V; LANES] {
        [value; LANES]
    }
    #[inline(always)]
    fn transpose(self, rows: [__m256; LANES]) -> [__m256; LANES] {
        // SAFETY: the token proves AVX2.
        unsafe { transpose_8x8(rows) }
    }
    #[inline(always)]
    fn transpose_i32(self, rows: [__m256i; LANES]) -> [__m256i; LANES] {
        // `map` with a cast would call a function for each row.
        // SAFETY: the token proves AVX2; both arrays are the same plain bits.
        unsafe {
            let floats = std::mem::transmute::<[__m256i; LANES], [__m256; LANES]>(rows);
            std::mem::transmute::<[__m256; LANES], [__m256i; LANES]>(transpose_8x8(floats))
        }
    }

    #[inline(always)]
    fn tile<V: Copy>(self, value: V) -> [V; 6] {
        [value; 6]
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_set1_ps(value) }
    }
    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_sub_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_div_ps(a, b) }
    }
    #[inline(always)]
    fn sqrt(self, v: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_sqrt_ps(v) }
    }
    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_mul_ps(a, b) }
    }
    #[inline(always)]
    fn mul_add(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        // SAFETY: the token proves FMA.
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn max(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_max_ps(a, b) }
    }
    #[inline(always)]
    fn min(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_min_ps(a, b) }
    }
    #[inline(always)]
    fn round(self, v: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(v) }
    }
    #[inline(always)]
    fn scale(self, v: __m256, n: __m256) -> __m256 {
        // Two factors, because 2ⁿ itself may be out of range. Only the second
        // product can round.
        // SAFETY: the token proves AVX2.
        let (low, high) = unsafe {
            let n = _mm256_cvtps_epi32(n);
            let half = _mm256_srai_epi32::<1>(n);
            let bias = _mm256_set1_epi32(127);
            let low = _mm256_slli_epi32::<23>(_mm256_add_epi32(half, bias));
            let rest = _mm256_sub_epi32(n, half);
            let high = _mm256_slli_epi32::<23>(_mm256_add_epi32(rest, bias));
            (low, high)
        };
        self.mul(self.mul(v, self.floats(low)), self.floats(high))
    }
    #[inline(always)]
    fn less(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(a, b) }
    }
    #[inline(always)]
    fn select(self, which: __m256, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_blendv_ps(b, a, which) }
    }
    #[inline(always)]
    fn interleave(self, a: __m256, b: __m256) -> [__m256; 2] {
        // SAFETY: the token proves AVX2.
        unsafe {
            // Each half by itself, and then halves put together.
            let (low, high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            [_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high)]
        }
    }
    #[inline(always)]
    fn swap_pairs(self, v: __m256) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_permute_ps::<0b10_11_00_01>(v) }
    }
    #[inline(always)]
    fn all(self, which: __m256) -> bool {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_movemask_ps(which) == 0xff }
    }
    #[inline(always)]
    fn to_bits(self, v: __m256) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_castps_si256(v) }
    }
    #[inline(always)]
    fn of_bits(self, v: __m256i) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_castsi256_ps(v) }
    }
    #[inline(always)]
    fn of_i32(self, v: __m256i) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_cvtepi32_ps(v) }
    }
    #[inline(always)]
    fn sum(self, v: __m256) -> f32 {
        // SAFETY: the token proves AVX2.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        }
    }
    #[inline(always)]
    fn largest(self, v: __m256) -> f32 {
        // SAFETY: the token proves AVX2.
        unsafe {
            let four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
            let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
        }
    }

    #[inline(always)]
    fn load_f32(self, x: &[f32]) -> __m256 {
        let x = &x[..LANES];
        // SAFETY: `x` holds 8 numbers; the load is unaligned.
        unsafe { _mm256_loadu_ps(x.as_ptr()) }
    }
    #[inline(always)]
    fn store_f32(self, v: __m256, y: &mut [f32]) {
        let y = &mut y[..LANES];
        // SAFETY: `y` holds 8 numbers; the store is unaligned.
        unsafe { _mm256_storeu_ps(y.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn load_bf16(self, x: &[u16]) -> __m256 {
        let codes = self.load_codes(x);
        // SAFETY: the token proves AVX2.
        self.floats(unsafe { _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(codes)) })
    }
    #[inline(always)]
    fn store_bf16(self, v: __m256, y: &mut [u16]) {
        self.store_codes(self.round_bf16(v), y);
    }
    #[inline(always)]
    fn load_f16(self, x: &[u16]) -> __m256 {
        // SAFETY: the token proves F16C.
        unsafe { _mm256_cvtph_ps(self.load_codes(x)) }
    }
    #[inline(always)]
    fn store_f16(self, v: __m256, y: &mut [u16]) {
        self.store_codes(self.round_f16(v), y);
    }

    #[inline(always)]
    fn splat_i32(self, value: i32) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_set1_epi32(value) }
    }
    #[inline(always)]
    fn add_i32(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_add_epi32(a, b) }
    }
    #[inline(always)]
    fn sub_i32(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_sub_epi32(a, b) }
    }
    #[inline(always)]
    fn mul_wide(self, a: __m256i, b: __m256i) -> [__m256i; 2] {
        // SAFETY: the token proves AVX2.
        unsafe {
            let even = _mm256_mul_epu32(a, b);
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            let low = _mm256_blend_epi32::<0xaa>(even, _mm256_slli_epi64::<32>(odd));
            [low, _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(even), odd)]
        }
    }
    #[inline(always)]
    fn below(self, a: __m256i, b: __m256i) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe {
            // The comparison knows signs: these are turned around.
            let sign = _mm256_set1_epi32(i32::MIN);
            let less = _mm256_cmpgt_epi32(_mm256_xor_si256(b, sign), _mm256_xor_si256(a, sign));
            _mm256_castsi256_ps(less)
        }
    }
    #[inline(always)]
    fn and_i32(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_and_si256(a, b) }
    }
    #[inline(always)]
    fn or_i32(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_or_si256(a, b) }
    }
    #[inline(always)]
    fn xor_i32(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_xor_si256(a, b) }
    }
    #[inline(always)]
    fn shift_left(self, v: __m256i, count: i32) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_sllv_epi32(v, _mm256_set1_epi32(count)) }
    }
    #[inline(always)]
    fn shift_right(self, v: __m256i, count: i32) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_srlv_epi32(v, _mm256_set1_epi32(count)) }
    }
    #[inline(always)]
    fn load_i32(self, x: &[i32]) -> __m256i {
        let x = &x[..LANES];
        // SAFETY: `x` holds 8 numbers; the load is unaligned.
        unsafe { _mm256_loadu_si256(x.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store_i32(self, v: __m256i, y: &mut [i32]) {
        let y = &mut y[..LANES];
        // SAFETY: `y` holds 8 numbers; the store is unaligned.
        unsafe { _mm256_storeu_si256(y.as_mut_ptr().cast(), v) }
    }
    #[inline(always)]
    fn load_u16(self, x: &[u16]) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_cvtepu16_epi32(self.load_codes(x)) }
    }
    #[inline(always)]
    fn store_u16(self, v: __m256i, y: &mut [u16]) {
        // SAFETY: the token proves AVX2.
        self.store_codes(
            unsafe { _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v)) },
            y,
        );
    }
    #[inline(always)]
    fn load_pairs(self, x: &[i8]) -> __m256i {
        let x = &x[..2 * LANES];
        // SAFETY: `x` holds 16 bytes; the load is unaligned.
        unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn load_pairs_of(self, first: &[i8], second: &[i8]) -> __m256i {
        let (first, second) = (&first[..LANES], &second[..LANES]);
        // SAFETY: both hold 8 bytes; the loads are unaligned.
        unsafe {
            let low = _mm256_cvtepi8_epi32(_mm_loadl_epi64(first.as_ptr().cast()));
            let high = _mm256_cvtepi8_epi32(_mm_loadl_epi64(second.as_ptr().cast()));
            _mm256_blend_epi16::<0b1010_1010>(low, _mm256_slli_epi32::<16>(high))
        }
    }
    #[inline(always)]
    fn load_i8(self, x: &[i8]) -> __m256i {
        let x = &x[..LANES];
        // SAFETY: `x` holds 8 bytes; the load is unaligned.
        unsafe { _mm256_cvtepi8_epi32(_mm_loadl_epi64(x.as_ptr().cast())) }
    }
    #[inline(always)]
    fn store_i8(self, v: __m256i, y: &mut [i8]) {
        let y = &mut y[..LANES];
        // SAFETY: `y` holds 8 bytes; the store is unaligned.
        unsafe {
            let first = _mm256_set1_epi32(0x0c08_0400);
            let four = _mm256_shuffle_epi8(v, first);
            let eight = _mm_unpacklo_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
            _mm_storel_epi64(y.as_mut_ptr().cast(), eight);
        }
    }
    #[inline(always)]
    fn look_up(self, numbers: [__m256; 2], places: __m256i) -> __m256 {
        // SAFETY: the token proves AVX2.
        unsafe {
            let low = _mm256_permutevar8x32_ps(numbers[0], places);
            let high = _mm256_permutevar8x32_ps(numbers[1], places);
            // The fourth bit, where the blend looks for it.
            _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32::<28>(places)))
        }
    }
    #[inline(always)]
    fn sum_i32(self, v: __m256i) -> i32 {
        // SAFETY: the token proves AVX2.
        unsafe {
            let four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
            let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
            _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two)))
        }
    }
    #[inline(always)]
    fn dot_pairs(self, acc: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)) }
    }

    #[inline(always)]
    fn stream_f32(self, v: __m256, y: &mut [f32]) {
        let target: *mut __m256 = y[..LANES].as_mut_ptr().cast();
        if target.is_aligned() {
            // SAFETY: 32 bytes of `y`, and the address is a multiple of 32.
            unsafe { _mm256_stream_ps(target.cast(), v) }
        } else {
            self.store_f32(v, y);
        }
    }
    #[inline(always)]
    fn stream_bf16(self, v: __m256, y: &mut [u16]) {
        self.stream_codes(self.round_bf16(v), y);
    }
    #[inline(always)]
    fn stream_f16(self, v: __m256, y: &mut [u16]) {
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
