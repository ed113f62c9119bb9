//! Three passes in lanes over each row, two of them from a near cache: the mean, what is left of it and the variance, the row.
//!
//! The mean is rounded, and the second pass adds up what it is off by: where it is large, that is most of what is lost. Rows whose
//! sums leave the range of f32, or hardly vary, are the definition's.

use super::plain::normalize_row;
use crate::lanes::Lanes;
use crate::rowwise::{Itself, Line, Places, Terms, at, map, sums, write};
use crate::{Cpu, Element, Pool, Rows, Scalar};
use std::ops::Range;

/// Variances, with eps, that f32 has all digits of.
const RANGE: Range<f32> = 1e-30..1e30;

/// y = (x − mean) / √(variance + eps) · w + b for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm::vector::layer_norm};
///
/// let mut y = [0.0_f32; 2];
/// layer_norm(&Cpu::serial(), &[1.0, 3.0], &[1.0; 2], &[5.0; 2], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [4.0, 6.0]);
/// ```
pub fn layer_norm<T: Element>(cpu: &Cpu, x: &[T], w: &[T], b: &[T], y: &mut [T], shape: Rows, eps: f64) {
    on(Pool::alone(), cpu, x, w, b, y, shape, eps);
}

/// The same, rows on all threads.
pub fn layer_norm_parallel<T: Element>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
    shape: Rows,
    eps: f64,
) {
    on(&cpu.pool, cpu, x, w, b, y, shape, eps);
}

#[expect(clippy::too_many_arguments, reason = "those of the kernel, and who runs it")]
fn on<T: Element>(pool: &Pool, cpu: &Cpu, x: &[T], w: &[T], b: &[T], y: &mut [T], shape: Rows, eps: f64) {
    assert!([w.len(), b.len()] == [shape.cols; 2], "lengths of w and b for {shape:?}");
    map(pool, cpu, x, y, shape, Weighted { w, b, eps });
}

/// y = (x − mean) / √(variance + eps) for each row of `x`.
pub fn layer_norm_plain<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, eps: f64) {
    map(Pool::alone(), cpu, x, y, shape, Alone { eps });
}

/// The same, rows on all threads.
pub fn layer_norm_plain_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, eps: f64) {
    map(&cpu.pool, cpu, x, y, shape, Alone { eps });
}

#[derive(Clone, Copy)]
pub(super) struct Weighted<'a, T> {
    pub(super) w: &'a [T],
    pub(super) b: &'a [T],
    pub(super) eps: f64,
}

impl<T: Scalar> Line<T> for Weighted<'_, T> {
    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: &[T], y: &mut [T], streamed: bool)
    where
        T: Element,
    {
        let Weighted { w, b, eps } = self;
        let Some(spread) = Spread::of(lanes, x, eps) else {
            return normalize_row(x, y, eps, |j, x| x * f64::from(w[j].wide()) + f64::from(b[j].wide()));
        };
        write(lanes, x, y, streamed, Finished { spread, w, b });
    }
}

#[derive(Clone, Copy)]
pub(super) struct Alone {
    pub(super) eps: f64,
}

impl<T: Scalar> Line<T> for Alone {
    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: &[T], y: &mut [T], streamed: bool)
    where
        T: Element,
    {
        let Some(spread) = Spread::of(lanes, x, self.eps) else {
            return normalize_row(x, y, self.eps, |_, x| x);
        };
        write(lanes, x, y, streamed, spread);
    }
}

/// The mean of a row in two parts, and the inverse of its deviation.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    mean: f32,
    rest: f32,
    inverse: f32,
}

impl Spread {
    #[inline(always)]
    pub(crate) fn of<L: Lanes, T: Element>(lanes: L, x: &[T], eps: f64) -> Option<Spread> {
        let count = x.len() as f32;
        let [sum] = sums(lanes, [x], Itself);
        let mean = sum / count;
        let [rest, squares] = sums(lanes, [x], Offset { mean });
        let rest = rest / count;
        let variance = (squares / count - rest * rest).max(0.0) + eps as f32;
        let is_usual = sum.is_finite() && rest.is_finite() && RANGE.contains(&variance);
        is_usual.then(|| Spread { mean, rest, inverse: 1.0 / variance.sqrt() })
    }
}

impl Places for Spread {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, _: Range<usize>) -> L::F {
        let [mean, rest, inverse] =
            [lanes.splat(self.mean), lanes.splat(self.rest), lanes.splat(self.inverse)];
        lanes.mul(lanes.sub(lanes.sub(x, mean), rest), inverse)
    }
}

/// x − mean, and its square.
#[derive(Clone, Copy)]
struct Offset {
    mean: f32,
}

impl Terms<1, 2> for Offset {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum, squares]: [L::F; 2], [x]: [L::F; 1]) -> [L::F; 2] {
        let off = lanes.sub(x, lanes.splat(self.mean));
        [lanes.add(sum, off), lanes.mul_add(off, off, squares)]
    }
}

/// With weights and biases.
#[derive(Clone, Copy)]
pub(crate) struct Finished<'a, T> {
    pub(crate) spread: Spread,
    pub(crate) w: &'a [T],
    pub(crate) b: &'a [T],
}

impl<T: Element> Places for Finished<'_, T> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, places: Range<usize>) -> L::F {
        let (w, b) = (at(lanes, self.w, places.clone()), at(lanes, self.b, places.clone()));
        lanes.mul_add(Places::of(self.spread, lanes, x, places), w, b)
    }
}
