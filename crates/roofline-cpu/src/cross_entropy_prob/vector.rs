//! A pass in lanes over each block of all.

use crate::lanes::Lanes;
use crate::math::log;
use crate::rowwise::{Terms, total};
use crate::{Cpu, Element, Pool, Real, Rows, Scalar};

/// −Σ t · ln(max(p, 10⁻⁸)) over everything.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cross_entropy_prob::vector::cross_entropy_prob};
///
/// let mut y = [0.0_f32];
/// cross_entropy_prob(&Cpu::serial(), &[0.5, 1.0], &[1.0, 1.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [2f32.ln()]);
/// ```
pub fn cross_entropy_prob<T: Element>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    on(Pool::alone(), cpu, p, t, y, shape);
}

/// The same, blocks on all threads.
pub fn cross_entropy_prob_parallel<T: Element>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    on(&cpu.pool, cpu, p, t, y, shape);
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn on<T: Scalar>(pool: &Pool, cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) -> bool {
    assert!([p.len(), t.len(), y.len()] == [shape.len(), shape.len(), 1], "lengths for {shape:?}");
    let Some(sum) = total(pool, cpu, [p, t], Weighted) else { return false };
    y[0] = T::narrow(T::Wide::of(f64::from(-sum)));
    true
}

/// t · ln(max(p, 10⁻⁸)).
#[derive(Clone, Copy)]
struct Weighted;

impl Terms<2, 1> for Weighted {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum]: [L::F; 1], [p, t]: [L::F; 2]) -> [L::F; 1] {
        // The second operand wins on NaN: a probability that is none stays so.
        let p = lanes.max(lanes.splat(1e-8), p);
        [lanes.mul_add(t, log(lanes, p), sum)]
    }
}
