//! Functions over lanes, right to 2 units in the last place for every f32 (`logistic` to 3).
//!
//! Each is a file: how the argument is reduced, and a polynomial on what is left. The polynomials are the best of their
//! degree in the largest relative error, found by weighted least squares on many points.
//!
//! `tests.rs` tries some ten million arguments of each function on every level; with `EVERY_F32=1` in the environment
//! all 2³² of them.

mod erf;
mod exp;
mod log;
mod logistic;
mod sine;
mod tanh;

#[cfg(test)]
mod tests;

pub use erf::erf;
pub use exp::{exp, exp_within};
pub use log::log;
pub use logistic::logistic;
pub use sine::{cos, sin};
pub use tanh::tanh;

use crate::lanes::Lanes;

/// The polynomial of these coefficients, highest power first.
#[inline(always)]
fn polynomial<L: Lanes, const N: usize>(lanes: L, x: L::F, coefficients: [f32; N]) -> L::F {
    let mut p = lanes.splat(coefficients[0]);
    for c in &coefficients[1..] {
        p = lanes.mul_add(p, x, lanes.splat(*c));
    }
    p
}

/// Adding it rounds to an integer: the spacing of f32 at 1.5·2²³ is one. The low bits of the sum are those of the integer.
const ROUNDER: f32 = 12_582_912.0;

/// |x|
#[inline(always)]
pub fn magnitude<L: Lanes>(lanes: L, x: L::F) -> L::F {
    lanes.of_bits(lanes.and_i32(lanes.to_bits(x), lanes.splat_i32(i32::MAX)))
}

/// `x`, which is not negative, with the sign of `of`.
#[inline(always)]
fn with_sign<L: Lanes>(lanes: L, x: L::F, of: L::F) -> L::F {
    let sign = lanes.and_i32(lanes.to_bits(of), lanes.splat_i32(i32::MIN));
    lanes.of_bits(lanes.or_i32(lanes.to_bits(x), sign))
}
