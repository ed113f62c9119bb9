//! Codes of eight bits as bytes.

use crate::{Datum, Fp8E4m3, Fp8E5m2};

/// Codes of eight bits, whatever they stand for, as the bytes that lanes load and store.
pub(crate) trait Bits8: Datum {
    fn bytes(codes: &[Self]) -> &[i8];
    fn bytes_mut(codes: &mut [Self]) -> &mut [i8];
}

macro_rules! bits8 {
    ($($type:ty)*) => {$(
        impl Bits8 for $type {
            fn bytes(codes: &[Self]) -> &[i8] {
                // SAFETY: one byte in all but name, for which every pattern is a value.
                unsafe { std::slice::from_raw_parts(codes.as_ptr().cast(), codes.len()) }
            }
            fn bytes_mut(codes: &mut [Self]) -> &mut [i8] {
                // SAFETY: as above, and the borrow stays exclusive.
                unsafe { std::slice::from_raw_parts_mut(codes.as_mut_ptr().cast(), codes.len()) }
            }
        }
    )*};
}

bits8! { i8 u8 Fp8E4m3 Fp8E5m2 }
