//! ln x = e · ln 2 + ln(1 + f) with x = 2ᵉ · (1 + f) and |f| <= 1/3.

use super::polynomial;
use crate::lanes::Lanes;

/// ln 2 as a sum of two numbers.
const LN2: [f32; 2] = [std::f32::consts::LN_2, -1.904_654_2e-9];
/// (ln(1 + f) - f) / f² on |f| <= 1/3.
const POWERS: [f32; 9] = [
    -1.294_895_7e-1,
    1.400_475_8e-1,
    -1.216_715_6e-1,
    1.400_116_1e-1,
    -1.668_230_6e-1,
    2.001_074_7e-1,
    -2.499_971_7e-1,
    3.333_321e-1,
    -5.0e-1,
];
/// The code of 2/3, where 1 + f begins.
const TWO_THIRDS: i32 = 0x3f2a_aaab;

/// ln x in every lane: -∞ of zero, NaN of what is below it.
#[inline(always)]
pub fn log<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let zero = lanes.splat(0.0);
    // Subnormal numbers are made normal.
    let is_subnormal = lanes.less(x, lanes.splat(f32::MIN_POSITIVE));
    let normal = lanes.select(is_subnormal, lanes.mul(x, lanes.splat(8_388_608.0)), x);
    let bits = lanes.to_bits(normal);
    // 128 too much, so that it is not negative.
    let exponent = lanes.shift_right(lanes.add_i32(bits, lanes.splat_i32((128 << 23) - TWO_THIRDS)), 23);
    let exponent = lanes.sub_i32(exponent, lanes.splat_i32(128));
    let f = lanes.of_bits(lanes.sub_i32(bits, lanes.shift_left(exponent, 23)));
    let f = lanes.sub(f, lanes.splat(1.0));
    let e = lanes.sub(lanes.of_i32(exponent), lanes.select(is_subnormal, lanes.splat(23.0), zero));
    let rest = lanes.mul(e, lanes.splat(LN2[1]));
    let rest = lanes.mul_add(lanes.mul(f, f), polynomial(lanes, f, POWERS), rest);
    let y = lanes.mul_add(e, lanes.splat(LN2[0]), lanes.add(rest, f));
    // ∞ and NaN are their own logarithms.
    let y = lanes.select(lanes.less(x, lanes.splat(f32::INFINITY)), y, x);
    let none = lanes.select(lanes.less(x, zero), lanes.splat(f32::NAN), lanes.splat(f32::NEG_INFINITY));
    lanes.select(lanes.less(x, lanes.splat(f32::from_bits(1))), none, y)
}
