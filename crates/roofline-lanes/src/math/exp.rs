//! eˣ = 2ⁿ · eʳ with n = round(x / ln 2) and |r| <= ln 2 / 2.
//!
//! ln 2 is split in a short head, whose product with n is exact, and a tail. The product with 2ⁿ is the only step that
//! can leave the normal range, so a subnormal result is rounded once.

use super::{ROUNDER, polynomial};
use crate::lanes::Lanes;

/// Below this argument eˣ rounds to zero (2⁻¹⁵⁰ is e^-103.97).
pub(super) const LOWEST: f32 = -104.0;
/// Above this argument eˣ is infinite.
const HIGHEST: f32 = 89.0;
const LN2_HEAD: f32 = 0.693_359_4;
const LN2_TAIL: f32 = -2.121_944_4e-4;
/// eʳ on |r| <= ln 2 / 2.
const POWERS: [f32; 7] =
    [1.384_360_6e-3, 8.374_196e-3, 4.166_800_5e-2, 1.666_643e-1, 4.999_999_4e-1, 1.0, 1.0];

/// eˣ in every lane; NaN stays NaN.
#[inline(always)]
pub fn exp<L: Lanes>(lanes: L, x: L::F) -> L::F {
    // The second operand wins on NaN: the clamps keep it.
    let x = lanes.max(lanes.splat(LOWEST), x);
    let x = lanes.min(lanes.splat(HIGHEST), x);
    exp_within(lanes, x)
}

/// eˣ for -104 <= x <= 89.
#[inline(always)]
pub fn exp_within<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let rounder = lanes.splat(ROUNDER);
    let n = lanes.sub(lanes.mul_add(x, lanes.splat(std::f32::consts::LOG2_E), rounder), rounder);
    let r = lanes.mul_add(n, lanes.splat(-LN2_HEAD), x);
    let r = lanes.mul_add(n, lanes.splat(-LN2_TAIL), r);
    lanes.scale(polynomial(lanes, r, POWERS), n)
}
