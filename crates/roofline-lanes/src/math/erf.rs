//! erf x: a polynomial near zero, 1 - e^p(x) further on, where p is the logarithm of the complement.

use super::{exp_within, magnitude, polynomial, with_sign};
use crate::lanes::Lanes;

/// Up to here the first polynomial.
const NEAR: f32 = 1.0;
/// From here on erf x rounds to 1.
const FAR: f32 = 4.0;
/// (erf x - x) / x in x².
const POWERS: [f32; 7] = [
    7.853_907e-5,
    -8.010_209e-4,
    5.188_329_6e-3,
    -2.685_381_3e-2,
    1.128_358_54e-1,
    -3.761_262_6e-1,
    1.283_791_7e-1,
];
/// ln(1 - erf x) / x.
const COMPLEMENT: [f32; 7] = [
    -1.233_934_7e-5,
    3.339_592_7e-4,
    -3.688_104_5e-3,
    2.385_926_4e-2,
    -1.063_505_56e-1,
    -6.350_820_7e-1,
    -1.128_665_7,
];

/// erf x in every lane.
#[inline(always)]
pub fn erf<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let near = lanes.mul_add(x, polynomial(lanes, lanes.mul(x, x), POWERS), x);
    let size = magnitude(lanes, x);
    // The second operand wins on NaN.
    let most = lanes.min(lanes.splat(FAR), size);
    let complement = exp_within(lanes, lanes.mul(most, polynomial(lanes, most, COMPLEMENT)));
    let far = lanes.sub(lanes.splat(1.0), complement);
    lanes.select(lanes.less(size, lanes.splat(NEAR)), near, with_sign(lanes, far, x))
}
