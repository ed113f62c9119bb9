//! fp8-e4m3 and fp8-e5m2 against the formats that the gate has of them.

use roofline_core::format::{FP8_E4M3, FP8_E5M2};
use roofline_cpu::{Fp8E4m3, Fp8E5m2};

#[test]
fn every_code_and_what_lies_beside_a_tie_is_as_the_format_has_it() {
    for code in 0..=u8::MAX {
        let (own, value) = (Fp8E4m3(code).to_f32(), FP8_E4M3.decode(u32::from(code)));
        assert!(f64::from(own) == value || own.is_nan() && value.is_nan(), "{code:#04x}");
        if own.is_nan() {
            continue;
        }
        assert_eq!(Fp8E4m3::from_f32(own), Fp8E4m3(code));
        // Beyond the largest there is no number to tie with, and the border is where one would be.
        let is_largest = code & 0x7f == 0x7e;
        let next = if is_largest { 480f32.copysign(own) } else { Fp8E4m3(code + 1).to_f32() };
        let tie = f32::midpoint(own, next);
        for x in [tie, tie.next_up(), tie.next_down()] {
            assert_eq!(u32::from(Fp8E4m3::from_f32(x).0), FP8_E4M3.encode(f64::from(x)), "{x}");
        }
    }
    for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e9] {
        assert!(Fp8E4m3::from_f32(x).to_f32().is_nan());
    }
}

#[test]
fn every_code_of_e5m2_and_what_lies_beside_a_tie_is_as_the_format_has_it() {
    for code in 0..=u8::MAX {
        let (own, value) = (Fp8E5m2(code).to_f32(), FP8_E5M2.decode(u32::from(code)));
        assert!(f64::from(own) == value || own.is_nan() && value.is_nan(), "{code:#04x}");
        if !own.is_finite() {
            continue;
        }
        assert_eq!(Fp8E5m2::from_f32(own), Fp8E5m2(code));
        let is_largest = code & 0x7f == 0x7b;
        let next = if is_largest { 65536f32.copysign(own) } else { Fp8E5m2(code + 1).to_f32() };
        let tie = f32::midpoint(own, next);
        for x in [tie, tie.next_up(), tie.next_down()] {
            assert_eq!(u32::from(Fp8E5m2::from_f32(x).0), FP8_E5M2.encode(f64::from(x)), "{x}");
        }
    }
    assert!(Fp8E5m2::from_f32(f32::NAN).to_f32().is_nan());
}
