//! sin x and cos x: of r = x - n · π/2 with |r| <= π/4, by two polynomials.
//!
//! π/2 is three numbers: the product of n with the first is taken from x exactly, and what the others add is rounded
//! in units of the small rest. Arguments too large for that, which are rare, are left to scalar code.

use super::{ROUNDER, magnitude, polynomial};
use crate::lanes::{Lanes, MAX_LANES};

/// Up to here the first step is exact.
const MOST: f32 = 1.0e5;
const HALF_PI: [f32; 3] = [std::f32::consts::FRAC_PI_2, -4.371_139e-8, -1.715_124_5e-15];
/// (sin r - r) / r³ in r².
const SINE: [f32; 3] = [-1.951_495_8e-4, 8.332_158e-3, -1.666_665_5e-1];
/// (cos r - 1 + r² / 2) / r⁴ in r².
const COSINE: [f32; 3] = [2.443_278_6e-5, -1.388_731_3e-3, 4.166_664_6e-2];

/// sin x in every lane.
#[inline(always)]
pub fn sin<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let y = of_quadrant(lanes, x, 0);
    if lanes.all(lanes.less(magnitude(lanes, x), lanes.splat(MOST))) {
        y
    } else {
        mend(lanes, x, y, f64::sin)
    }
}

/// cos x in every lane: sin x, a quadrant on.
#[inline(always)]
pub fn cos<L: Lanes>(lanes: L, x: L::F) -> L::F {
    let y = of_quadrant(lanes, x, 1);
    if lanes.all(lanes.less(magnitude(lanes, x), lanes.splat(MOST))) {
        y
    } else {
        mend(lanes, x, y, f64::cos)
    }
}

#[inline(always)]
fn of_quadrant<L: Lanes>(lanes: L, x: L::F, shift: i32) -> L::F {
    let sum = lanes.mul_add(x, lanes.splat(std::f32::consts::FRAC_2_PI), lanes.splat(ROUNDER));
    let quadrant = lanes.add_i32(lanes.to_bits(sum), lanes.splat_i32(shift));
    let n = lanes.sub(sum, lanes.splat(ROUNDER));
    let mut r = x;
    for part in HALF_PI {
        r = lanes.fused(n, lanes.splat(-part), r);
    }
    let square = lanes.mul(r, r);
    let sine = lanes.mul_add(lanes.mul(r, square), polynomial(lanes, square, SINE), r);
    let cosine = lanes.mul_add(square, lanes.splat(-0.5), lanes.splat(1.0));
    let cosine = lanes.mul_add(lanes.mul(square, square), polynomial(lanes, square, COSINE), cosine);
    // 2.0 in odd quadrants.
    let odd = lanes.of_bits(lanes.shift_left(lanes.and_i32(quadrant, lanes.splat_i32(1)), 30));
    let y = lanes.select(lanes.less(lanes.splat(0.0), odd), cosine, sine);
    let sign = lanes.shift_left(lanes.and_i32(quadrant, lanes.splat_i32(2)), 30);
    lanes.of_bits(lanes.xor_i32(lanes.to_bits(y), sign))
}

/// `y`, with lanes of too large an x computed by themselves.
#[inline(always)]
fn mend<L: Lanes>(lanes: L, x: L::F, y: L::F, of: fn(f64) -> f64) -> L::F {
    let (mut from, mut to) = ([0.0; MAX_LANES], [0.0; MAX_LANES]);
    lanes.store_f32(x, &mut from);
    lanes.store_f32(y, &mut to);
    mend_each(&from, &mut to, of);
    lanes.load_f32(&to)
}

#[cold]
#[inline(never)]
fn mend_each(from: &[f32; MAX_LANES], to: &mut [f32; MAX_LANES], of: fn(f64) -> f64) {
    for (x, y) in from.iter().zip(to) {
        if x.abs() >= MOST || x.is_nan() {
            *y = of(f64::from(*x)) as f32;
        }
    }
}
