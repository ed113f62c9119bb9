//! Two passes in lanes: the sum of squares, then x · (inverse · w).
//!
//! Over the definition: f32 lanes with four partial sums, and the output
//! streamed when no cache would keep it. A row whose squares leave the range
//! of f32 (or which holds NaN or infinity) is handed to the plain kernel.

use super::plain::normalize_row;
use crate::lanes::Lanes;
use crate::{Cpu, Element, Rows, Vectorize, stream};

/// y = x / sqrt(mean(x²) + eps) · w for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, rms_norm::vector::rms_norm};
///
/// let mut y = [0.0; 2];
/// rms_norm(&Cpu::serial(), &[3.0, -3.0], &[1.0, 2.0], &mut y, Rows { rows: 1, cols: 2 }, 1e-6);
/// assert!((y[0] - 1.0).abs() < 1e-6 && (y[1] + 2.0).abs() < 1e-6);
/// ```
pub fn rms_norm<T: Element>(cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    super::check(x.len(), w.len(), y.len(), shape);
    let streamed = cpu.streams(2 * size_of_val(x));
    cpu.isa.run(NormalizeRows { x, w, y, eps, more: 0.0, streamed });
}

/// RMS norm of rows as long as `w`.
pub(super) struct NormalizeRows<'a, T> {
    pub(super) x: &'a [T],
    pub(super) w: &'a [T],
    pub(super) y: &'a mut [T],
    pub(super) eps: f64,
    /// What weights are more than `w`.
    pub(super) more: f32,
    pub(super) streamed: bool,
}

impl<T: Element> Vectorize for NormalizeRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let (w, more) = (self.w, self.more);
        let cols = w.len().max(1);
        for (x, y) in self.x.chunks(cols).zip(self.y.chunks_mut(cols)) {
            let sum = sum_of_squares(lanes, x);
            if !sum.is_finite() {
                normalize_row(x, w, y, self.eps, |w| w + f64::from(more));
                continue;
            }
            let inverse = 1.0 / (sum / cols as f32 + self.eps as f32).sqrt();
            if self.streamed {
                let head = stream::unaligned_head(y);
                let (y_head, y) = y.split_at_mut(head);
                scale::<L, T, false>(lanes, &x[..head], &w[..head], more, inverse, y_head);
                scale::<L, T, true>(lanes, &x[head..], &w[head..], more, inverse, y);
            } else {
                scale::<L, T, false>(lanes, x, w, more, inverse, y);
            }
        }
        if self.streamed {
            lanes.fence();
        }
    }
}

#[inline(always)]
fn sum_of_squares<L: Lanes, T: Element>(lanes: L, x: &[T]) -> f32 {
    let mut sums = [lanes.splat(0.0); 4];
    let mut blocks = x.chunks_exact(4 * L::LANES);
    for block in &mut blocks {
        for (sum, x) in sums.iter_mut().zip(block.chunks_exact(L::LANES)) {
            let x = T::load(lanes, x);
            *sum = lanes.mul_add(x, x, *sum);
        }
    }
    for x in blocks.remainder().chunks(L::LANES) {
        let x = T::load_partial(lanes, x, T::default());
        sums[0] = lanes.mul_add(x, x, sums[0]);
    }
    let [a, b, c, d] = sums;
    lanes.sum(lanes.add(lanes.add(a, b), lanes.add(c, d)))
}

/// y = x · (inverse · (w + more)): the last product is the only one that can be
/// subnormal, so a subnormal result is rounded once.
#[inline(always)]
fn scale<L: Lanes, T: Element, const STREAM: bool>(
    lanes: L,
    x: &[T],
    w: &[T],
    more: f32,
    inverse: f32,
    y: &mut [T],
) {
    let cols = w.len();
    let [more, inverse] = [lanes.splat(more), lanes.splat(inverse)];
    let mut x = x.chunks_exact(L::LANES);
    let mut w = w.chunks_exact(L::LANES);
    let mut y = y.chunks_exact_mut(L::LANES);
    for ((x, w), y) in (&mut x).zip(&mut w).zip(&mut y) {
        // The next row comes from memory while this one is written.
        lanes.prefetch(x.as_ptr().wrapping_add(cols));
        let factor = lanes.mul(lanes.add(T::load(lanes, w), more), inverse);
        T::put::<L, STREAM>(lanes, lanes.mul(T::load(lanes, x), factor), y);
    }
    let w = T::load_partial(lanes, w.remainder(), T::default());
    let x = T::load_partial(lanes, x.remainder(), T::default());
    let last = lanes.mul(x, lanes.mul(lanes.add(w, more), inverse));
    T::store_partial(lanes, last, y.into_remainder());
}
