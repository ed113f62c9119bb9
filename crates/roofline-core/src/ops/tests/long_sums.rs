//! Sums of a hundred million terms, as no test holds them in memory: their walk alone.

use crate::bound::{MARGIN, Walk, rounding};
use crate::case::Case;
use crate::operation::family::rowwise::{visible, visible_square};
use crate::philox::Draws;

const TERMS: usize = 100_000_000;

/// Uniform in [-1, 1): drawn once, then stirred, since a hundred million draws take their time.
fn terms(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = Draws::new(seed, 5).bits() | 1;
    (0..TERMS).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}

/// What a bound allows of a sum, or of one of squares.
fn allowed(case: &Case, term: fn(f64) -> f64) -> f64 {
    let mut walked = Walk { accumulator: case.precision.accumulator, order_matters: false }.start();
    terms(3).for_each(|x| walked.step(term(x)));
    rounding(case.precision.output, walked.sum) + MARGIN * walked.error()
}

/// A change of one term is more than the bounds before and after it, in f32 and where sums of f32 are rounded to bf16.
#[test]
fn one_term_of_a_hundred_million_is_seen() {
    for precision in ["f32", "bf16"] {
        let case: Case = format!("sum.all/{precision}/rows=10000,cols=10000").parse().unwrap();
        let (step, bound) = (visible(&case, TERMS), allowed(&case, |x| x));
        assert!(step > 2.0 * bound, "{case}: {step} beside {bound}");
        assert!(step < 1000.0, "{case}: {step} would be seen by anybody");
        let case: Case = format!("mse.sum/{precision}/rows=10000,cols=10000").parse().unwrap();
        let step = visible_square(&case, TERMS);
        // The square of what was moved, less twice its product with what it was: 1 at most.
        let change = step * step - 2.0 * step;
        let bound = allowed(&case, |x| x * x);
        assert!(change > 2.0 * bound, "{case}: {change} beside {bound}");
    }
}
