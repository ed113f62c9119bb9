//! Models of the error inside a kernel, each derived from its arithmetic.
//!
//! An output may differ from its f64 reference by the single rounding to the output type, which is
//! a strict bound and gets no margin, plus a soft part: the model of the internal rounding errors,
//! which gets [`MARGIN`]. There is no free absolute tolerance. `METHODOLOGY.md` derives the models.

use crate::dtype::Dtype;
use crate::precision::Accumulator;

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

/// How a kernel sums: what in, and whether the order of its terms is one that roundings add up in.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    pub accumulator: Accumulator,
    pub order_matters: bool,
}

impl Walk {
    /// The sum of products of two lines.
    pub fn dot(self, a: &[f64], b: &[f64]) -> Walked {
        let mut walked = self.start();
        a.iter().zip(b).for_each(|(x, y)| walked.step(x * y));
        walked
    }

    pub fn start(self) -> Walked {
        Walked {
            walk: self,
            sum: 0.0,
            block: 0.0,
            in_block: 0,
            squares: 0.0,
            outer: 0.0,
            magnitude: 0.0,
            length: 0,
        }
    }
}

/// A sum in f64 with what the model of its rounding walk needs.
///
/// A sequential sum errs at step j by up to u|s_j|, uniformly: the deviation of the walk is
/// u sqrt(sum s_j^2 / 3). Other orders walk less, unless the content has an order of its own or is built to
/// cancel; then the bound that is proved for every order is taken. An accumulator that is promoted walks anew
/// in every block, and its blocks walk in f32.
#[derive(Clone, Copy, Debug)]
pub struct Walked {
    walk: Walk,
    pub sum: f64,
    /// The sum since the last promotion, and its terms.
    block: f64,
    in_block: usize,
    /// Sums of the squares of the prefix sums: inside blocks, and of blocks.
    squares: f64,
    outer: f64,
    magnitude: f64,
    length: usize,
}

impl Walked {
    #[inline]
    pub fn step(&mut self, term: f64) {
        self.sum += term;
        self.block += term;
        self.squares += self.block * self.block;
        self.magnitude += term.abs();
        self.length += 1;
        self.in_block += 1;
        if self.walk.accumulator.promoted == Some(self.in_block) {
            self.outer += self.sum * self.sum;
            (self.block, self.in_block) = (0.0, 0);
        }
    }

    /// Error of the sum, its terms being exact.
    pub fn error(&self) -> f64 {
        self.error_where(self.walk.order_matters)
    }

    /// The same, where it is known only now whether the order of the terms matters.
    pub fn error_where(&self, order_matters: bool) -> f64 {
        let Accumulator { promoted, .. } = self.walk.accumulator;
        let (inner, outer) = (self.walk.accumulator.unit_roundoff(), Dtype::F32.unit_roundoff());
        if order_matters {
            let block = promoted.unwrap_or(self.length).min(self.length);
            let blocks = promoted.map_or(0, |promoted| self.length / promoted);
            (inner * block as f64 + outer * blocks as f64) * self.magnitude
        } else {
            Z * ((inner * inner * self.squares + outer * outer * self.outer) / 3.0).sqrt()
        }
    }
}

/// Sums of products of one line with [`LANES`] others, side by side: each the same, to the last bit, as alone.
///
/// A sum waits for its last step; eight of them do not wait for each other.
pub fn dots(walk: Walk, a: &[f64], b: &[[f64; LANES]]) -> [Walked; LANES] {
    let mut lanes = [walk.start(); LANES];
    let block = walk.accumulator.promoted.unwrap_or(a.len()).max(1);
    for (a, b) in a.chunks(block).zip(b.chunks(block)) {
        let mut sums = [0.0; LANES];
        let mut totals = lanes.map(|lane| lane.sum);
        let mut squares = lanes.map(|lane| lane.squares);
        let mut magnitudes = lanes.map(|lane| lane.magnitude);
        for (x, y) in a.iter().zip(b) {
            for lane in 0..LANES {
                let product = x * y[lane];
                totals[lane] += product;
                sums[lane] += product;
                squares[lane] += sums[lane] * sums[lane];
                magnitudes[lane] += product.abs();
            }
        }
        for (lane, walked) in lanes.iter_mut().enumerate() {
            walked.sum = totals[lane];
            walked.squares = squares[lane];
            walked.magnitude = magnitudes[lane];
            walked.length += a.len();
            if walk.accumulator.promoted == Some(a.len()) {
                walked.outer += walked.sum * walked.sum;
            }
        }
    }
    lanes
}

/// Error of a result after `count` roundings one after the other, none of which cancels: products,
/// quotients, roots, and what underflows on the way.
pub fn roundings(accumulator: Accumulator, count: usize, value: f64) -> f64 {
    count as f64 * accumulator.unit_roundoff() * value.abs() + accumulator.smallest_subnormal()
}

/// What a kernel that takes denormals for zero may err by beyond that: what underflows is lost whole.
pub fn flushed(accumulator: Accumulator) -> f64 {
    accumulator.smallest_normal()
}

/// Relative error of a sum of `length` terms of one sign.
///
/// Roundings of random terms walk; those of equal or ordered terms can all go the same way, so
/// contents of that kind get the bound that is proved for every order.
pub fn positive_sum(accumulator: Accumulator, length: usize, order_matters: bool) -> f64 {
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
        let a: Vec<f64> = (0..300).map(|_| number()).collect();
        let b: Vec<[f64; LANES]> = (0..300).map(|_| std::array::from_fn(|_| number())).collect();
        for accumulator in [Accumulator::F32, Accumulator::TC14X128] {
            for order_matters in [false, true] {
                let walk = Walk { accumulator, order_matters };
                for (lane, together) in dots(walk, &a, &b).into_iter().enumerate() {
                    let column: Vec<f64> = b.iter().map(|b| b[lane]).collect();
                    let alone = walk.dot(&a, &column);
                    assert_eq!((together.sum, together.error()), (alone.sum, alone.error()));
                }
            }
        }
    }

    /// 14 bits that are promoted every 128 terms err by less than 14 bits all the way, and by more than f32.
    #[test]
    fn promotion_bounds_the_walk() {
        let ones = vec![1.0; 4096];
        let error = |accumulator| Walk { accumulator, order_matters: true }.dot(&ones, &ones).error();
        let held = Accumulator { promoted: None, ..Accumulator::TC14X128 };
        assert!(error(Accumulator::F32) < error(Accumulator::TC14X128));
        assert!(30.0 * error(Accumulator::TC14X128) < error(held));
    }
}
