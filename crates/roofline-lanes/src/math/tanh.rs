//! tanh x: a polynomial near zero, 1 - 2 / (e²ˣ + 1) further on.

use super::{exp_within, magnitude, polynomial, with_sign};
use crate::lanes::Lanes;

/// Up to here the polynomial; the other form loses what is left of a difference.
const NEAR: f32 = 0.625;
/// From here on tanh x rounds to 1.
const FAR: f32 = 10.0;
/// (tanh x - x) / x³ in x².
const POWERS: [f32; 5] = [-5.704_987_3e-3, 2.063_908_8e-2, -5.373_971_5e-2, 1.333_144_2e-1, -3.333_328e-1];

/// tanh x in every lane.
#[inline(always)]
pub fn tanh<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let square = lanes.mul(x, x);
    let near = lanes.mul_add(lanes.mul(x, square), polynomial(lanes, square, POWERS), x);
    let size = magnitude(lanes, x);
    // The second operand wins on NaN.
    let most = lanes.min(lanes.splat(FAR), size);
    let power = exp_within(lanes, lanes.add(most, most));
    let inverse = lanes.reciprocal(lanes.add(power, lanes.splat(1.0)));
    let far = lanes.mul_add(inverse, lanes.splat(-2.0), lanes.splat(1.0));
    lanes.select(lanes.less(size, lanes.splat(NEAR)), near, with_sign(lanes, far, x))
}
