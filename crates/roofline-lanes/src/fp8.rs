//! fp8-e4m3: four bits of exponent, three of mantissa, no infinity, and a NaN beyond 448. fp8-e5m2: the upper half of f16.

/// A number of 8 bits, by its code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Fp8E4m3(pub u8);

/// Of f32, the bits of the mantissa that are too many, and by how much its exponents are counted from further below.
const SHIFT: u32 = 20;
const REBIAS: u32 = 120 << 3;
/// The smallest number with all its digits, and how many of the numbers below it make 1.
const SMALLEST_NORMAL: f32 = 1.0 / 64.0;
const SUBNORMALS: f32 = 512.0;
const NAN: u32 = 0x7f;

impl Fp8E4m3 {
    /// The largest number.
    pub const MAX: f32 = 448.0;

    /// Exact.
    ///
    /// ```
    /// use roofline_lanes::Fp8E4m3;
    ///
    /// assert_eq!(Fp8E4m3(0x7e).to_f32(), Fp8E4m3::MAX);
    /// assert_eq!(Fp8E4m3(0x81).to_f32(), -1.0 / 512.0);
    /// assert!(Fp8E4m3(0x7f).to_f32().is_nan());
    /// ```
    #[inline(always)]
    pub const fn to_f32(self) -> f32 {
        let code = (self.0 & 0x7f) as u32;
        let magnitude = match code {
            NAN => f32::NAN,
            0..8 => code as f32 / SUBNORMALS,
            _ => f32::from_bits((code + REBIAS) << SHIFT),
        };
        if self.0 >> 7 == 1 { -magnitude } else { magnitude }
    }

    /// The nearest number, ties to even; NaN for what is beyond the largest by half a step and more.
    ///
    /// ```
    /// use roofline_lanes::Fp8E4m3;
    ///
    /// assert_eq!(Fp8E4m3::from_f32(-17.0).to_f32(), -16.0);
    /// assert_eq!(Fp8E4m3::from_f32(19.0).to_f32(), 20.0);
    /// assert_eq!(Fp8E4m3::from_f32(1.0 / 1000.0).to_f32(), 1.0 / 512.0);
    /// assert!(Fp8E4m3::from_f32(465.0).to_f32().is_nan());
    /// ```
    #[inline(always)]
    pub fn from_f32(x: f32) -> Fp8E4m3 {
        let magnitude = x.abs();
        let code = if magnitude < SMALLEST_NORMAL {
            (magnitude * SUBNORMALS).round_ties_even() as u32
        } else if magnitude < 512.0 {
            let bits = magnitude.to_bits();
            // Half a step less the least bit, or half a step where the number is odd: a tie then goes to the even one.
            let half = (1 << (SHIFT - 1)) - 1 + (bits >> SHIFT & 1);
            (((bits + half) >> SHIFT) - REBIAS).min(NAN)
        } else {
            NAN
        };
        Fp8E4m3(code as u8 | u8::from(x.is_sign_negative()) << 7)
    }
}

impl From<Fp8E4m3> for f64 {
    fn from(number: Fp8E4m3) -> f64 {
        f64::from(number.to_f32())
    }
}

/// The other number of 8 bits, by its code: five bits of exponent, two of mantissa, and infinities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Fp8E5m2(pub u8);

impl Fp8E5m2 {
    /// The largest number.
    pub const MAX: f32 = 57344.0;

    /// Exact.
    pub fn to_f32(self) -> f32 {
        half::f16::from_bits(u16::from(self.0) << 8).to_f32()
    }

    /// The nearest number, ties to even; infinity for what is beyond the largest by half a step and more.
    ///
    /// ```
    /// use roofline_lanes::Fp8E5m2;
    ///
    /// assert_eq!(Fp8E5m2::from_f32(-9.0).to_f32(), -8.0);
    /// assert_eq!(Fp8E5m2::from_f32(11.0).to_f32(), 12.0);
    /// assert_eq!(Fp8E5m2::from_f32(1e-5).to_f32(), 1.0 / 65536.0);
    /// assert_eq!(Fp8E5m2::from_f32(1e6).to_f32(), f32::INFINITY);
    /// ```
    #[inline(always)]
    pub fn from_f32(x: f32) -> Fp8E5m2 {
        const SHIFT: u32 = 21;
        const REBIAS: u32 = 112 << 2;
        const INFINITY: u32 = 0x7c;
        let magnitude = x.abs();
        let code = if magnitude < 1.0 / 16384.0 {
            (magnitude * 65536.0).round_ties_even() as u32
        } else if magnitude.is_nan() {
            INFINITY + 3
        } else {
            let bits = magnitude.min(65536.0).to_bits();
            let half = (1 << (SHIFT - 1)) - 1 + (bits >> SHIFT & 1);
            (((bits + half) >> SHIFT) - REBIAS).min(INFINITY)
        };
        Fp8E5m2(code as u8 | u8::from(x.is_sign_negative()) << 7)
    }
}

impl From<Fp8E5m2> for f64 {
    fn from(number: Fp8E5m2) -> f64 {
        f64::from(number.to_f32())
    }
}
