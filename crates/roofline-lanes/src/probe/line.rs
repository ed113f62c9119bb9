//! A cache line as a value: the step in which the traffic probes move.

use crate::lanes::Portable;
#[cfg(target_arch = "x86_64")]
use crate::lanes::{Avx2, Avx512};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Bytes of a line.
pub(super) const LINE: usize = 64;

/// Moves lines with the widest instructions of a level. The implementing types are the tokens of
/// [`crate::lanes`], which exist only where their instructions do.
pub(super) trait Line: Copy {
    type Value: Copy;

    fn zero(self) -> Self::Value;
    fn xor(self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// # Safety
    /// A line at `from` can be read.
    unsafe fn load(self, from: *const u8) -> Self::Value;
    /// # Safety
    /// A line at `to` can be written.
    unsafe fn store(self, value: Self::Value, to: *mut u8);
    /// A store past the caches, where the level has one.
    ///
    /// # Safety
    /// A line at `to` can be written, and `to` is a multiple of [`LINE`].
    unsafe fn stream(self, value: Self::Value, to: *mut u8);
    /// Orders streamed lines before everything that follows.
    fn fence(self);
}

impl Line for Portable {
    type Value = [u64; 8];

    #[inline(always)]
    fn zero(self) -> [u64; 8] {
        [0; 8]
    }
    #[inline(always)]
    fn xor(self, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        std::array::from_fn(|i| a[i] ^ b[i])
    }
    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> [u64; 8] {
        // SAFETY: the caller's promise; any bytes are numbers.
        unsafe { from.cast::<[u64; 8]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(self, value: [u64; 8], to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[u64; 8]>().write_unaligned(value) }
    }
    #[inline(always)]
    unsafe fn stream(self, value: [u64; 8], to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.store(value, to) }
    }
    #[inline(always)]
    fn fence(self) {}
}

#[cfg(target_arch = "x86_64")]
impl Line for Avx2 {
    type Value = [__m256i; 2];

    #[inline(always)]
    fn zero(self) -> [__m256i; 2] {
        // SAFETY: the token proves AVX2.
        unsafe { [_mm256_setzero_si256(); 2] }
    }
    #[inline(always)]
    fn xor(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the token proves AVX2.
        unsafe { [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> [__m256i; 2] {
        // SAFETY: the token proves AVX2, and the caller promises 64 bytes.
        unsafe { [_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(32).cast())] }
    }
    #[inline(always)]
    unsafe fn store(self, value: [__m256i; 2], to: *mut u8) {
        // SAFETY: the token proves AVX2, and the caller promises 64 bytes.
        unsafe {
            _mm256_storeu_si256(to.cast(), value[0]);
            _mm256_storeu_si256(to.add(32).cast(), value[1]);
        }
    }
    #[inline(always)]
    unsafe fn stream(self, value: [__m256i; 2], to: *mut u8) {
        // SAFETY: the token proves AVX2, and the caller promises 64 aligned bytes.
        unsafe {
            _mm256_stream_si256(to.cast(), value[0]);
            _mm256_stream_si256(to.add(32).cast(), value[1]);
        }
    }
    #[inline(always)]
    fn fence(self) {
        // SAFETY: a part of x86-64.
        unsafe { _mm_sfence() }
    }
}

#[cfg(target_arch = "x86_64")]
impl Line for Avx512 {
    type Value = __m512i;

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_setzero_si512() }
    }
    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512 F.
        unsafe { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> __m512i {
        // SAFETY: the token proves AVX-512 F, and the caller promises 64 bytes.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, value: __m512i, to: *mut u8) {
        // SAFETY: the token proves AVX-512 F, and the caller promises 64 bytes.
        unsafe { _mm512_storeu_si512(to.cast(), value) }
    }
    #[inline(always)]
    unsafe fn stream(self, value: __m512i, to: *mut u8) {
        // SAFETY: the token proves AVX-512 F, and the caller promises 64 aligned bytes.
        unsafe { _mm512_stream_si512(to.cast(), value) }
    }
    #[inline(always)]
    fn fence(self) {
        // SAFETY: a part of x86-64.
        unsafe { _mm_sfence() }
    }
}
