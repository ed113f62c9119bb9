//! 32 codes of eight bits in one vector, and the sums of their products: what blocks of quantised numbers are made for.
//!
//! Lanes know no bytes, because levels differ most there: VNNI multiplies four of them in a lane and adds them up, AVX2 two by
//! two. A value of a [`Bytes`] type is a token, like those of [`crate::lanes`]; [`run`] chooses one as [`Isa::run`] does.

use crate::Isa;
use crate::lanes::{Lanes, Portable};

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{OfAvx2, Vnni};

/// Vectors of 32 codes, and eight sums of four products each.
pub(crate) trait Bytes: Copy + Send + Sync + 'static {
    /// What sums are computed with: eight lanes.
    type Lanes: Lanes;
    /// 32 codes.
    type Codes: Copy;

    fn lanes(self) -> Self::Lanes;
    /// Reads the first 32 codes.
    fn load(self, codes: &[i8]) -> Self::Codes;
    /// The codes of four bits of the first 16 bytes, each less eight: those of low halves, then those of high ones.
    fn load_halves(self, pairs: &[i8]) -> Self::Codes;
    /// The products of codes, the sum of four neighbours in each lane; no code of `x` is -128.
    fn dot(self, w: Self::Codes, x: Self::Codes) -> <Self::Lanes as Lanes>::F;
}

/// Code written once for all kinds of bytes. `run` must be `#[inline(always)]`, as that of [`crate::Vectorize`].
pub(crate) trait OnBytes {
    fn run<B: Bytes>(self, bytes: B);
}

/// Runs `code` with the best that the level and this processor have.
pub(crate) fn run(isa: Isa, code: impl OnBytes) {
    #[cfg(target_arch = "x86_64")]
    {
        if let (Isa::Avx512, Some(vnni)) = (isa, Vnni::detect()) {
            // SAFETY: the token proves the features of the function.
            return unsafe { x86::run_vnni(vnni, code) };
        }
        if let (Isa::Avx2 | Isa::Avx512, Some(avx2)) = (isa, OfAvx2::detect()) {
            // SAFETY: the token proves the features of the function.
            return unsafe { x86::run_avx2(avx2, code) };
        }
    }
    run_portable(code);
}

/// Apart from its callers, as that of lanes.
#[inline(never)]
fn run_portable(code: impl OnBytes) {
    code.run(OfPortable);
}

/// Arrays that the compiler maps to whatever the target has.
#[derive(Clone, Copy)]
struct OfPortable;

impl Bytes for OfPortable {
    type Lanes = Portable;
    type Codes = [i8; 32];

    #[inline(always)]
    fn lanes(self) -> Portable {
        Portable
    }
    #[inline(always)]
    fn load(self, codes: &[i8]) -> [i8; 32] {
        codes[..32].try_into().expect("32 codes")
    }
    #[inline(always)]
    fn load_halves(self, pairs: &[i8]) -> [i8; 32] {
        let pairs = &pairs[..16];
        std::array::from_fn(|i| (pairs[i % 16] as u8 >> (i / 16 * 4) & 15) as i8 - 8)
    }
    #[inline(always)]
    fn dot(self, w: [i8; 32], x: [i8; 32]) -> [f32; 8] {
        let product = |i: usize| i32::from(w[i]) * i32::from(x[i]);
        std::array::from_fn(|lane| (4 * lane..4 * lane + 4).map(product).sum::<i32>() as f32)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Bytes, OnBytes};
    use crate::lanes::{Avx2, Lanes};

    /// Token: AVX2 was detected on this processor.
    #[derive(Clone, Copy)]
    pub(crate) struct OfAvx2(Avx2);

    /// Token: AVX512-VNNI on vectors of 32 bytes was detected on this processor.
    #[derive(Clone, Copy)]
    pub(crate) struct Vnni(Avx2);

    impl OfAvx2 {
        pub(crate) fn detect() -> Option<Self> {
            Avx2::detect().map(Self)
        }
    }

    impl Vnni {
        pub(crate) fn detect() -> Option<Self> {
            let detected = is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl");
            Avx2::detect().filter(|_| detected).map(Self)
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn run_avx2(bytes: OfAvx2, code: impl OnBytes) {
        code.run(bytes);
    }

    #[target_feature(enable = "avx512f,avx512vl,avx512vnni,avx2,fma,f16c")]
    pub(super) fn run_vnni(bytes: Vnni, code: impl OnBytes) {
        code.run(bytes);
    }

    #[inline(always)]
    fn load(_proof: Avx2, codes: &[i8]) -> __m256i {
        let codes = &codes[..32];
        // SAFETY: `codes` holds 32 bytes; the load is unaligned. The token proves AVX.
        unsafe { _mm256_loadu_si256(codes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_halves(_proof: Avx2, pairs: &[i8]) -> __m256i {
        let pairs = &pairs[..16];
        // SAFETY: `pairs` holds 16 bytes; the load is unaligned. The token proves AVX2.
        unsafe {
            let twice = _mm256_broadcastsi128_si256(_mm_loadu_si128(pairs.as_ptr().cast()));
            let moved = _mm256_srlv_epi32(twice, _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4));
            _mm256_sub_epi8(_mm256_and_si256(moved, _mm256_set1_epi8(15)), _mm256_set1_epi8(8))
        }
    }

    impl Bytes for OfAvx2 {
        type Lanes = Avx2;
        type Codes = __m256i;

        #[inline(always)]
        fn lanes(self) -> Avx2 {
            self.0
        }
        #[inline(always)]
        fn load(self, codes: &[i8]) -> __m256i {
            load(self.0, codes)
        }
        #[inline(always)]
        fn load_halves(self, pairs: &[i8]) -> __m256i {
            load_halves(self.0, pairs)
        }
        #[inline(always)]
        fn dot(self, w: __m256i, x: __m256i) -> <Avx2 as Lanes>::F {
            // One side must be without signs: they go to the other. Two products are 32512 at most, which 16 bits hold.
            // SAFETY: the token proves AVX2.
            unsafe {
                let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
                _mm256_cvtepi32_ps(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
            }
        }
    }

    impl Bytes for Vnni {
        type Lanes = Avx2;
        type Codes = __m256i;

        #[inline(always)]
        fn lanes(self) -> Avx2 {
            self.0
        }
        #[inline(always)]
        fn load(self, codes: &[i8]) -> __m256i {
            load(self.0, codes)
        }
        #[inline(always)]
        fn load_halves(self, pairs: &[i8]) -> __m256i {
            load_halves(self.0, pairs)
        }
        #[inline(always)]
        fn dot(self, w: __m256i, x: __m256i) -> <Avx2 as Lanes>::F {
            // SAFETY: the token proves AVX512-VNNI and VL.
            unsafe {
                let none = _mm256_setzero_si256();
                let sums = _mm256_dpbusd_epi32(none, _mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
                _mm256_cvtepi32_ps(sums)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code of one side beside several of the other, in whole bytes and in halves.
    struct Check;

    impl OnBytes for Check {
        #[inline(always)]
        fn run<B: Bytes>(self, bytes: B) {
            let lanes = bytes.lanes();
            let mut state = 1u32;
            let mut code = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as i8
            };
            for round in 0..200 {
                let w: [i8; 32] = std::array::from_fn(|_| if round == 0 { -128 } else { code() });
                let x: [i8; 32] = std::array::from_fn(|_| if round < 2 { 127 } else { code().max(-127) });
                let halves: [i8; 32] =
                    std::array::from_fn(|i| (w[i % 16] as u8 >> (i / 16 * 4) & 15) as i8 - 8);
                for (w, codes) in [(w, bytes.load(&w)), (halves, bytes.load_halves(&w))] {
                    let mut sums = [0.0; 8];
                    lanes.store_f32(bytes.dot(codes, bytes.load(&x)), &mut sums);
                    for (lane, sum) in sums.into_iter().enumerate() {
                        let products = (4 * lane..4 * lane + 4).map(|i| i32::from(w[i]) * i32::from(x[i]));
                        assert_eq!(sum, products.sum::<i32>() as f32);
                    }
                }
            }
        }
    }

    #[test]
    fn every_kind_agrees_with_scalar_code() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            run(isa, Check);
        }
    }
}
