//! Models of the error inside a kernel, each derived from its arithmetic.
//!
//! An output may differ from its f64 reference by the single rounding to the output type, which is
//! a strict bound and gets no margin, plus a soft part: the model of the internal rounding errors,
//! which gets [`MARGIN`]. There is no free absolute tolerance. `METHODOLOGY.md` derives the models.

use crate::dtype::Dtype;

/// Room given to the soft part only.
pub const MARGIN: f64 = 4.0;

/// Deviations covered: the extreme of about 10^9 roughly normal errors.
pub const Z: f64 = 6.0;

/// Dot products that are computed side by side.
pub const LANES: usize = 8;

/// Rounding to the output type: half a unit in the last place, or half a subnormal.
///
/// The factor above 1 covers a reference that lies just below a power of two.
pub fn rounding(output: Dtype, value: f64) -> f64 {
    output.unit_roundoff() * value.abs() * (1.0 + 1.0 / 512.0) + output.smallest_subnormal() / 2.0
}

/// A dot product in f64 with what the model of its rounding walk needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dot {
    pub sum: f64,
    /// Sum of the squares of all prefix sums.
    pub prefix_squares: f64,
    /// Sum of the magnitudes of the products.
    pub magnitude: f64,
    pub length: usize,
}

impl Dot {
    pub fn of(a: &[f64], b: &[f64]) -> Dot {
        let mut dot = Dot { length: a.len(), ..Dot::default() };
        for (x, y) in a.iter().zip(b) {
            let product = x * y;
            dot.sum += product;
            dot.prefix_squares += dot.sum * dot.sum;
            dot.magnitude += product.abs();
        }
        dot
    }

    /// [`LANES`] dot products of one `a`, side by side: each the same, to the last bit, as alone.
    ///
    /// A sum waits for its last step; eight of them do not wait for each other.
    pub fn of_lanes(a: &[f64], b: &[[f64; LANES]]) -> [Dot; LANES] {
        let (mut sums, mut squares, mut magnitudes) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for (x, y) in a.iter().zip(b) {
            for lane in 0..LANES {
                let product = x * y[lane];
                sums[lane] += product;
                squares[lane] += sums[lane] * sums[lane];
                magnitudes[lane] += product.abs();
            }
        }
        std::array::from_fn(|lane| Dot {
            sum: sums[lane],
            prefix_squares: squares[lane],
            magnitude: magnitudes[lane],
            length: a.len(),
        })
    }

    /// Error of summing in `accumulator`, products being exact or fused.
    ///
    /// A sequential sum errs at step j by up to u|s_j|, uniformly: the deviation of the walk is
    /// u sqrt(sum s_j^2 / 3). Other orders walk less, unless the content has an order of its own or
    /// is built to cancel; then the bound that is proved for every order is taken.
    pub fn error(&self, accumulator: Dtype, order_matters: bool) -> f64 {
        let u = accumulator.unit_roundoff();
        if order_matters {
            u * self.length as f64 * self.magnitude
        } else {
            Z * u * (self.prefix_squares / 3.0).sqrt()
        }
    }
}

/// Error of a result after `count` roundings one after the other, none of which cancels: products,
/// quotients, roots, and what underflows on the way.
pub fn roundings(accumulator: Dtype, count: usize, value: f64) -> f64 {
    count as f64 * accumulator.unit_roundoff() * value.abs() + accumulator.smallest_subnormal()
}

/// What a kernel that takes denormals for zero may err by beyond that: what underflows is lost whole.
pub fn flushed(accumulator: Dtype) -> f64 {
    accumulator.smallest_normal()
}

/// Relative error of a sum of `length` terms of one sign.
///
/// Roundings of random terms walk; those of equal or ordered terms can all go the same way, so
/// contents of that kind get the bound that is proved for every order.
pub fn positive_sum(accumulator: Dtype, length: usize, order_matters: bool) -> f64 {
    let u = accumulator.unit_roundoff();
    if order_matters { u * length as f64 } else { u * Z * (length as f64).sqrt() / 3.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::philox::Draws;

    #[test]
    fn dots_side_by_side_are_those_alone() {
        let mut draws = Draws::new(3, 3);
        let mut number = || draws.bits() as f64 / 1e19 - 0.9;
        let a: Vec<f64> = (0..100).map(|_| number()).collect();
        let b: Vec<[f64; LANES]> = (0..100).map(|_| std::array::from_fn(|_| number())).collect();
        for (lane, dot) in Dot::of_lanes(&a, &b).into_iter().enumerate() {
            let column: Vec<f64> = b.iter().map(|b| b[lane]).collect();
            assert_eq!(dot, Dot::of(&a, &column));
        }
    }
}
