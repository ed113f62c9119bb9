//! 1 / (1 + e⁻ˣ) by e^-|x|, which cannot overflow, and a reciprocal of what lies between 1 and 2.

use super::exp::LOWEST;
use super::exp_within;
use crate::lanes::Lanes;

/// 1 / (1 + e⁻ˣ) in every lane.
#[inline(always)]
pub fn logistic<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let negative = lanes.of_bits(lanes.or_i32(lanes.to_bits(x), lanes.splat_i32(i32::MIN)));
    // The second operand wins on NaN.
    let power = exp_within(lanes, lanes.max(lanes.splat(LOWEST), negative));
    let inverse = lanes.reciprocal(lanes.add(power, lanes.splat(1.0)));
    lanes.select(lanes.less(x, lanes.splat(0.0)), lanes.mul(power, inverse), inverse)
}
