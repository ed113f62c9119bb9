//! fp4-e2m1, a sign and three bits of a magnitude, two in a byte; and the powers of two that scale blocks of codes.

/// What three bits of a magnitude stand for.
const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
/// What lies in the middle of two magnitudes.
const MIDDLES: [f32; 7] = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0];

/// The largest number.
pub const MAX: f32 = 6.0;

/// What the lower four bits stand for.
///
/// ```
/// use roofline_cpu::fp4;
///
/// assert_eq!([0x1, 0x7, 0xd].map(fp4::decode), [0.5, 6.0, -3.0]);
/// ```
#[inline(always)]
pub fn decode(code: u8) -> f32 {
    let magnitude = MAGNITUDES[usize::from(code & 7)];
    if code & 8 == 0 { magnitude } else { -magnitude }
}

/// The code of the nearest number, ties to even, and of the largest for what is beyond it. Zero keeps its sign.
///
/// ```
/// use roofline_cpu::fp4;
///
/// assert_eq!([2.5, 3.5, 1e9, -0.3, -0.25].map(|x| fp4::decode(fp4::encode(x))), [2.0, 4.0, 6.0, -0.5, 0.0]);
/// assert_eq!(fp4::encode(-0.25), 8);
/// ```
#[inline(always)]
pub fn encode(x: f32) -> u8 {
    let magnitude = x.abs();
    // In the middle of two the upper one is even where the lower one is odd.
    let is_passed =
        |(code, middle): (usize, &f32)| magnitude > *middle || code % 2 == 1 && magnitude == *middle;
    let code: u8 = MIDDLES.iter().enumerate().map(|middle| u8::from(is_passed(middle))).sum();
    code | u8::from(x.is_sign_negative()) << 3
}

/// 2ᵉ of the byte e + 127; the last one stands for no number.
///
/// ```
/// use roofline_cpu::fp4;
///
/// assert_eq!([0, 1, 127, 254].map(fp4::power), [2f32.powi(-127), 2f32.powi(-126), 1.0, 2f32.powi(127)]);
/// assert!(fp4::power(255).is_nan());
/// ```
#[inline(always)]
pub fn power(byte: u8) -> f32 {
    match byte {
        // Below the numbers with all their digits.
        0 => f32::from_bits(1 << 22),
        u8::MAX => f32::NAN,
        byte => f32::from_bits(u32::from(byte) << 23),
    }
}

/// The byte of a scale that takes numbers with this largest magnitude to those below 2^(`exponent` + 1).
///
/// ```
/// use roofline_cpu::fp4;
///
/// assert_eq!([7.9, 1.0, 0.0].map(|largest| fp4::power(fp4::scale(largest, 2))), [1.0, 0.25, 2f32.powi(-127)]);
/// ```
#[inline(always)]
pub fn scale(largest: f32, exponent: u8) -> u8 {
    ((largest.to_bits() >> 23) as u8).saturating_sub(exponent)
}
