//! The exponential function over lanes, right to 2 units in the last place
//! for every argument, subnormal results included.
//!
//! eˣ = 2ⁿ · eʳ with n = round(x / ln 2) and |r| <= ln 2 / 2. ln 2 is split in
//! a short head, whose product with n is exact, and a tail. eʳ is a polynomial
//! of degree 7 (coefficients of Cephes' expf); the product with 2ⁿ is the only step that can leave the
//! normal range, so a subnormal result is rounded once.

use crate::lanes::Lanes;

/// Below this argument eˣ rounds to zero (2⁻¹⁵⁰ is e^-103.97).
const LOWEST: f32 = -104.0;
/// Above this argument eˣ is infinite.
const HIGHEST: f32 = 89.0;
const LN2_HEAD: f32 = 0.693_359_4;
const LN2_TAIL: f32 = -2.121_944_4e-4;
/// (eʳ - 1 - r) / r² on |r| <= ln 2 / 2, highest power first.
const COEFFICIENTS: [f32; 6] =
    [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5.0e-1];

/// eˣ in every lane; NaN stays NaN.
#[inline(always)]
pub(crate) fn exp<L: Lanes>(lanes: L, x: L::F) -> L::F {
    // The second operand wins on NaN: the clamps keep it.
    let x = lanes.max(lanes.splat(LOWEST), x);
    let x = lanes.min(lanes.splat(HIGHEST), x);
    let n = lanes.round(lanes.mul(x, lanes.splat(std::f32::consts::LOG2_E)));
    let r = lanes.mul_add(n, lanes.splat(-LN2_HEAD), x);
    let r = lanes.mul_add(n, lanes.splat(-LN2_TAIL), r);
    let mut p = lanes.splat(COEFFICIENTS[0]);
    for c in &COEFFICIENTS[1..] {
        p = lanes.mul_add(p, r, lanes.splat(*c));
    }
    let r2 = lanes.mul(r, r);
    let p = lanes.add(lanes.mul_add(p, r2, r), lanes.splat(1.0));
    lanes.scale(p, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Isa, Vectorize};

    struct ExpAll<'a>(&'a mut [f32]);

    impl Vectorize for ExpAll<'_> {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) {
            for chunk in self.0.chunks_exact_mut(L::LANES) {
                let y = exp(lanes, lanes.load_f32(chunk));
                lanes.store_f32(y, chunk);
            }
        }
    }

    #[test]
    fn two_units_in_the_last_place_over_the_whole_range() {
        // Every 331st code of both signs: about 13 million arguments.
        let codes = (0..=u32::MAX).step_by(331);
        let mut x: Vec<f32> = codes.map(f32::from_bits).collect();
        x.extend((0..4096).map(|i| -103.0 + i as f32 * -0.0003));
        x.extend((0..65536).map(|i| -87.0 - i as f32 * 0.0003));
        x.resize(x.len().next_multiple_of(16), 0.0);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let mut y = x.clone();
            isa.run(ExpAll(&mut y));
            for (&x, &y) in x.iter().zip(&y) {
                let exact = f64::from(x).exp();
                if exact.is_nan() {
                    assert!(y.is_nan(), "{isa:?} exp({x})");
                    continue;
                }
                let nearest = exact as f32;
                if nearest.is_infinite() || y.is_infinite() {
                    assert_eq!(y, nearest, "{isa:?} exp({x:e})");
                    continue;
                }
                let unit = f64::from(nearest.next_up()) - f64::from(nearest);
                let error = (f64::from(y) - exact).abs() / unit;
                assert!(error <= 2.0, "{isa:?} exp({x:e}) = {y:e}: {error} units");
            }
        }
    }
}
