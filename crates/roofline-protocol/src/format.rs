//! Binary floating-point formats, as numbers: precision, exponent range, largest value.
//!
//! One rounding and one encoding serve f16, bf16, both fp8 formats and the formats that exist only
//! inside a unit (tf32). Values pass through f64, which holds each of these formats exactly, so a
//! conversion is one correctly rounded step. `docs/design/why-own-formats.md` says why no crate does this.

/// A format with an implicit leading bit, subnormals, and round-to-nearest-even.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Significand bits, the implicit one included.
    pub precision: i32,
    /// Exponent of the smallest normal number.
    pub min_exponent: i32,
    /// Largest finite value.
    pub max_finite: f64,
    /// Whether overflow gives an infinity; a format without one overflows to NaN.
    pub has_infinity: bool,
    /// Bits of one code; formats that are never stored have 0.
    pub width: u32,
}

pub const F64: Format =
    Format { precision: 53, min_exponent: -1022, max_finite: f64::MAX, has_infinity: true, width: 64 };
pub const F32: Format =
    Format { precision: 24, min_exponent: -126, max_finite: f32::MAX as f64, has_infinity: true, width: 32 };
/// Inputs of tensor units that take f32 but multiply 11-bit significands.
pub const TF32: Format = Format { precision: 11, width: 0, ..F32 };
pub const F16: Format =
    Format { precision: 11, min_exponent: -14, max_finite: 65504.0, has_infinity: true, width: 16 };
pub const BF16: Format = Format {
    precision: 8,
    min_exponent: -126,
    max_finite: 3.389_531_389_251_535_5e38,
    has_infinity: true,
    width: 16,
};
pub const FP8_E4M3: Format =
    Format { precision: 4, min_exponent: -6, max_finite: 448.0, has_infinity: false, width: 8 };
pub const FP8_E5M2: Format =
    Format { precision: 3, min_exponent: -14, max_finite: 57344.0, has_infinity: true, width: 8 };

impl Format {
    /// Half the distance from 1 to the next number: the relative error of one rounding.
    #[inline]
    pub fn unit_roundoff(&self) -> f64 {
        power_of_two(-self.precision)
    }

    /// Distance between subnormals, and the smallest of them.
    #[inline]
    pub fn smallest_subnormal(&self) -> f64 {
        power_of_two(self.min_exponent - self.precision + 1)
    }

    /// The smallest number with all its digits: what lies below is denormal.
    #[inline]
    pub fn smallest_normal(&self) -> f64 {
        power_of_two(self.min_exponent)
    }

    /// The number of this format nearest to `x`, ties to even.
    #[inline]
    pub fn round(&self, x: f64) -> f64 {
        if self.precision == F64.precision || x == 0.0 || !x.is_finite() {
            return if x.is_infinite() && !self.has_infinity { f64::NAN } else { x };
        }
        let exponent = exponent_of(x).max(self.min_exponent);
        let quantum = power_of_two(exponent - self.precision + 1);
        let rounded = (x / quantum).round_ties_even() * quantum;
        if rounded.abs() <= self.max_finite {
            rounded
        } else if self.has_infinity {
            f64::INFINITY.copysign(x)
        } else {
            f64::NAN
        }
    }

    /// The code of the number nearest to `x`.
    #[inline]
    pub fn encode(&self, x: f64) -> u32 {
        let mantissa_bits = (self.precision - 1) as u32;
        let sign = u32::from(x.is_sign_negative()) << (self.width - 1);
        let exponent_mask = ((1u32 << (self.width - 1 - mantissa_bits)) - 1) << mantissa_bits;
        let value = self.round(x).abs();
        let magnitude = if value.is_nan() {
            // The all-ones code is NaN in every format here, quiet where there is a choice.
            exponent_mask | ((1 << mantissa_bits) - 1)
        } else if value.is_infinite() {
            exponent_mask
        } else if value < power_of_two(self.min_exponent) {
            (value / self.smallest_subnormal()) as u32
        } else {
            let exponent = exponent_of(value);
            let significand = (value / power_of_two(exponent - self.precision + 1)) as u32;
            let biased = (exponent - self.min_exponent + 1) as u32;
            (biased << mantissa_bits) + (significand - (1 << mantissa_bits))
        };
        sign | magnitude
    }

    /// The number that a code stands for.
    #[inline]
    pub fn decode(&self, code: u32) -> f64 {
        let mantissa_bits = (self.precision - 1) as u32;
        let exponent_bits = self.width - 1 - mantissa_bits;
        let mantissa = code & ((1 << mantissa_bits) - 1);
        let biased = (code >> mantissa_bits) & ((1 << exponent_bits) - 1);
        let top = (1 << exponent_bits) - 1;
        let magnitude = if biased == top && self.has_infinity {
            if mantissa == 0 { f64::INFINITY } else { f64::NAN }
        } else if biased == top && mantissa == (1 << mantissa_bits) - 1 {
            f64::NAN
        } else if biased == 0 {
            f64::from(mantissa) * self.smallest_subnormal()
        } else {
            let significand = f64::from(mantissa + (1 << mantissa_bits));
            significand * power_of_two(biased as i32 - 1 + self.min_exponent - self.precision + 1)
        };
        if code >> (self.width - 1) == 1 { -magnitude } else { magnitude }
    }
}

/// `2^k`, exact over the whole range of f64.
#[inline]
pub fn power_of_two(k: i32) -> f64 {
    if k >= -1022 { f64::from_bits(((k + 1023) as u64) << 52) } else { f64::from_bits(1u64 << (k + 1074)) }
}

/// Exponent of a finite, non-zero number as if it were normal.
#[inline]
pub fn exponent_of(x: f64) -> i32 {
    let biased = (x.to_bits() >> 52 & 0x7ff) as i32;
    if biased == 0 {
        let mantissa = x.to_bits() & ((1 << 52) - 1);
        -1011 - mantissa.leading_zeros() as i32
    } else {
        biased - 1023
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_16_bit_code_agrees_with_half() {
        for code in 0..=u16::MAX {
            let pairs =
                [(F16, half::f16::from_bits(code).to_f64()), (BF16, half::bf16::from_bits(code).to_f64())];
            for (format, expected) in pairs {
                let got = format.decode(u32::from(code));
                assert!(got == expected || (got.is_nan() && expected.is_nan()), "{code:#06x}");
                if !expected.is_nan() {
                    assert_eq!(format.encode(got), u32::from(code));
                }
            }
        }
    }

    #[test]
    fn fp8_codes_follow_the_published_tables() {
        // The corners of the two formats, and that every code survives the round trip.
        assert_eq!(FP8_E4M3.decode(0x7e), 448.0);
        assert_eq!(FP8_E4M3.decode(0x08), 0.015625);
        assert_eq!(FP8_E4M3.decode(0x01), 0.001953125);
        assert!(FP8_E4M3.decode(0x7f).is_nan());
        assert_eq!(FP8_E5M2.decode(0x7b), 57344.0);
        assert_eq!(FP8_E5M2.decode(0x7c), f64::INFINITY);
        assert_eq!(FP8_E5M2.decode(0x01), 2f64.powi(-16));
        for format in [FP8_E4M3, FP8_E5M2] {
            for code in 0..=255u32 {
                let value = format.decode(code);
                if !value.is_nan() {
                    assert_eq!(format.encode(value), code, "{value}");
                    assert_eq!(format.round(value), value);
                }
            }
        }
    }

    #[test]
    fn overflow_and_ties() {
        assert_eq!(F16.round(65519.9), 65504.0);
        assert_eq!(F16.round(65520.0), f64::INFINITY);
        assert!(FP8_E4M3.round(465.0).is_nan());
        assert_eq!(FP8_E4M3.round(463.0), 448.0);
        assert_eq!(BF16.round(1.0 + 2f64.powi(-8)), 1.0);
        assert_eq!(BF16.round(1.0 + 2f64.powi(-8) + 2f64.powi(-50)), 1.0 + 2f64.powi(-7));
        assert_eq!(BF16.round(1.0 + 3.0 * 2f64.powi(-8)), 1.0 + 2f64.powi(-6));
    }

    proptest::proptest! {
        #[test]
        fn rounding_agrees_with_the_hardware_and_half(bits: u64) {
            let x = f64::from_bits(bits);
            let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            proptest::prop_assert!(same(F32.round(x), f64::from(x as f32)));
            // Small exponents exercise subnormals of the narrow formats.
            let y = (bits as i64 as f64) * 2f64.powi(-(bits as i32 & 127) - 20);
            // `half` leaves out the lower 32 bits, and so takes what is just above a tie for one.
            let y = f64::from_bits(y.to_bits() & !0xffff_ffff);
            proptest::prop_assert!(same(F16.round(y), half::f16::from_f64(y).to_f64()));
            proptest::prop_assert!(same(BF16.round(y), half::bf16::from_f64(y).to_f64()));
        }
    }
}
