//! Number types of tensors: f32, bf16 and f16 share every kernel.
//!
//! A kernel computes in f32 lanes; an [`Element`] says how its type gets in
//! (exactly) and out (one rounding to nearest even), a vector at a time.

use half::{bf16, f16, slice::HalfFloatSliceExt};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use crate::attention::amx;
use crate::attention::{Heads, Rule};
use crate::lanes::{Lanes, MAX_LANES};
use crate::{Cpu, Scalar};

/// A floating-point type of tensors.
pub trait Element: Scalar<Wide = f32> {
    /// Reads the first `LANES` elements of `x`.
    fn load<L: Lanes>(lanes: L, x: &[Self]) -> L::F;
    /// Reads the `x.len() <= LANES` elements of `x`; the lanes beyond hold `fill`.
    fn load_partial<L: Lanes>(lanes: L, x: &[Self], fill: Self) -> L::F;
    /// Writes the first `LANES` elements of `y`.
    fn store<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]);
    /// Writes the `y.len() <= LANES` elements of `y`.
    fn store_partial<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]);
    /// Like `store`, past the caches; see [`Lanes::stream_f32`].
    fn stream<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]);

    /// Attention by tile registers, for types that they multiply and processors that have them; whether it was done.
    #[doc(hidden)]
    fn attend_by_tiles(
        _cpu: &Cpu,
        _qkv: [&[Self]; 3],
        _y: &mut [Self],
        _shape: Heads,
        _rule: Rule<'_, Self>,
        _scale: Option<f64>,
    ) -> bool {
        false
    }

    /// `stream` or `store`. A constant, not a function argument: a call
    /// through one would leave the function that has the vector features.
    #[inline(always)]
    fn put<L: Lanes, const STREAM: bool>(lanes: L, v: L::F, y: &mut [Self]) {
        if STREAM {
            Self::stream(lanes, v, y);
        } else {
            Self::store(lanes, v, y);
        }
    }
}

impl Element for f32 {
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, x: &[Self]) -> L::F {
        lanes.load_f32(x)
    }
    #[inline(always)]
    fn load_partial<L: Lanes>(lanes: L, x: &[Self], fill: Self) -> L::F {
        lanes.load_partial_f32(x, fill)
    }
    #[inline(always)]
    fn store<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        lanes.store_f32(v, y);
    }
    #[inline(always)]
    fn store_partial<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        lanes.store_partial_f32(v, y);
    }
    #[inline(always)]
    fn stream<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        lanes.stream_f32(v, y);
    }
}

impl Element for bf16 {
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, x: &[Self]) -> L::F {
        lanes.load_bf16(x.reinterpret_cast())
    }
    #[inline(always)]
    fn load_partial<L: Lanes>(lanes: L, x: &[Self], fill: Self) -> L::F {
        let codes = lanes.load_partial_u16(x.reinterpret_cast(), fill.to_bits());
        lanes.load_bf16(&codes)
    }
    #[inline(always)]
    fn store<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        lanes.store_bf16(v, y.reinterpret_cast_mut());
    }
    #[inline(always)]
    fn store_partial<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        let mut codes = [0; MAX_LANES];
        lanes.store_bf16(v, &mut codes);
        lanes.store_partial_u16(codes, y.reinterpret_cast_mut());
    }
    #[inline(always)]
    fn stream<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        lanes.stream_bf16(v, y.reinterpret_cast_mut());
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    fn attend_by_tiles(
        cpu: &Cpu,
        qkv: [&[Self]; 3],
        y: &mut [Self],
        shape: Heads,
        rule: Rule<'_, Self>,
        scale: Option<f64>,
    ) -> bool {
        let is_done = amx::is_available();
        if is_done {
            amx::attention(cpu, qkv, y, shape, rule, scale);
        }
        is_done
    }
}

impl Element for f16 {
    #[inline(always)]
    fn load<L: Lanes>(lanes: L, x: &[Self]) -> L::F {
        lanes.load_f16(x.reinterpret_cast())
    }
    #[inline(always)]
    fn load_partial<L: Lanes>(lanes: L, x: &[Self], fill: Self) -> L::F {
        let codes = lanes.load_partial_u16(x.reinterpret_cast(), fill.to_bits());
        lanes.load_f16(&codes)
    }
    #[inline(always)]
    fn store<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        lanes.store_f16(v, y.reinterpret_cast_mut());
    }
    #[inline(always)]
    fn store_partial<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        let mut codes = [0; MAX_LANES];
        lanes.store_f16(v, &mut codes);
        lanes.store_partial_u16(codes, y.reinterpret_cast_mut());
    }
    #[inline(always)]
    fn stream<L: Lanes>(lanes: L, v: L::F, y: &mut [Self]) {
        lanes.stream_f16(v, y.reinterpret_cast_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Isa, Vectorize};

    /// Every element of `x` to f32 lanes and back.
    struct RoundTrip<'a, T> {
        x: &'a [T],
        wide: &'a mut [f32],
        back: &'a mut [T],
    }

    impl<T: Element> Vectorize for RoundTrip<'_, T> {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) {
            for start in (0..self.x.len()).step_by(L::LANES) {
                let v = T::load(lanes, &self.x[start..]);
                lanes.store_f32(v, &mut self.wide[start..]);
                T::store(lanes, v, &mut self.back[start..]);
            }
        }
    }

    /// f32 values rounded to `T`.
    struct Narrow<'a, T>(&'a [f32], &'a mut [T]);

    impl<T: Element> Vectorize for Narrow<'_, T> {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) {
            for start in (0..self.0.len()).step_by(L::LANES) {
                T::store(lanes, lanes.load_f32(&self.0[start..]), &mut self.1[start..]);
            }
        }
    }

    fn check_all_codes<T: Element + std::fmt::Debug>(from_bits: fn(u16) -> T, to_bits: fn(T) -> u16) {
        let codes: Vec<T> = (0..=u16::MAX).map(from_bits).collect();
        // Between two neighbours: the tie, and the numbers next to it.
        let mut between = Vec::new();
        for pair in codes.windows(2) {
            let (low, high) = (pair[0].wide(), pair[1].wide());
            let tie = low + (high - low) / 2.0;
            between.extend([tie, tie.next_down(), tie.next_up(), low]);
        }
        between.resize(between.len().next_multiple_of(MAX_LANES), 0.0);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut wide = vec![0.0; codes.len()];
            let mut back = vec![T::default(); codes.len()];
            isa.run(RoundTrip { x: &codes, wide: &mut wide, back: &mut back });
            for ((&code, wide), back) in codes.iter().zip(wide).zip(back) {
                let expected = code.wide();
                if expected.is_nan() {
                    assert!(wide.is_nan() && back.wide().is_nan(), "{isa:?} {code:?}");
                } else {
                    assert_eq!(wide.to_bits(), expected.to_bits(), "{isa:?} {code:?}");
                    assert_eq!(to_bits(back), to_bits(code), "{isa:?} {code:?}");
                }
            }
            let mut rounded = vec![T::default(); between.len()];
            isa.run(Narrow(&between, &mut rounded));
            for (&exact, rounded) in between.iter().zip(rounded) {
                let expected = T::narrow(exact);
                let same = to_bits(rounded) == to_bits(expected)
                    || (expected.wide().is_nan() && rounded.wide().is_nan());
                assert!(same, "{isa:?} {exact:e}: {rounded:?}, not {expected:?}");
            }
        }
    }

    #[test]
    fn every_f16_code_and_every_tie_between_codes() {
        check_all_codes(f16::from_bits, f16::to_bits);
    }

    #[test]
    fn every_bf16_code_and_every_tie_between_codes() {
        check_all_codes(bf16::from_bits, bf16::to_bits);
    }
}
