//! Passes in lanes over each row, all but the first from a near cache: the sum of squares, the sums, the norm of them.
//!
//! A row whose squares leave the range of f32 (or which holds NaN or infinity) is the definition's.

use super::plain::norm_row;
use crate::lanes::Lanes;
use crate::rowwise::{PIECE, Places, Terms, at, sums, write};
use crate::scalar::InLanes;
use crate::{Cpu, Element, Isa, Pool, Rows, Scalar, Vectorize};
use std::ops::Range;

/// h = x + r and y = h / √(mean(h²) + eps) · w for each row; inputs x, r and w, outputs h and y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add_rms_norm::vector::add_rms_norm};
///
/// let (mut h, mut y) = ([0.0_f32; 2], [0.0; 2]);
/// let shape = Rows { rows: 1, cols: 2 };
/// add_rms_norm(&Cpu::serial(), [&[1.0, -2.0], &[2.0, -1.0], &[1.0, 2.0]], [&mut h, &mut y], shape, 0.0);
/// assert_eq!((h, y), ([3.0, -3.0], [1.0, -2.0]));
/// ```
pub fn add_rms_norm<T: Element>(cpu: &Cpu, inputs: [&[T]; 3], outputs: [&mut [T]; 2], shape: Rows, eps: f64) {
    on(Pool::alone(), cpu, inputs, outputs, shape, eps);
}

/// The same, rows on all threads.
pub fn add_rms_norm_parallel<T: Element>(
    cpu: &Cpu,
    inputs: [&[T]; 3],
    outputs: [&mut [T]; 2],
    shape: Rows,
    eps: f64,
) {
    on(&cpu.pool, cpu, inputs, outputs, shape, eps);
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    [x, r, w]: [&[T]; 3],
    [h, y]: [&mut [T]; 2],
    shape: Rows,
    eps: f64,
) -> bool {
    super::check([x, r, w], [&*h, &*y], shape);
    let streamed = cpu.streams(4 * size_of_val(x));
    T::in_lanes(OnThreads { pool, isa: cpu.isa, rows: AddNorm { x, r, w, h, y, eps, streamed } })
}

struct OnThreads<'a, T> {
    pool: &'a Pool,
    isa: Isa,
    rows: AddNorm<'a, T>,
}

impl<T: Scalar> InLanes<T> for OnThreads<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let AddNorm { x, r, w, h, y, eps, streamed } = self.rows;
        self.pool.run_alike([h, y], w.len(), PIECE, |first, [h, y]| {
            let [x, r] = [x, r].map(|input| &input[first..][..h.len()]);
            self.isa.run(AddNorm { x, r, w, h, y, eps, streamed });
        });
    }
}

struct AddNorm<'a, T> {
    x: &'a [T],
    r: &'a [T],
    w: &'a [T],
    h: &'a mut [T],
    y: &'a mut [T],
    eps: f64,
    streamed: bool,
}

impl<T: Element> Vectorize for AddNorm<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let AddNorm { x, r, w, h, y, eps, streamed } = self;
        let cols = w.len().max(1);
        let inputs = x.chunks(cols).zip(r.chunks(cols));
        for ((x, r), (h, y)) in inputs.zip(h.chunks_mut(cols).zip(y.chunks_mut(cols))) {
            let [sum] = sums(lanes, [x, r], SquareOfSum);
            if !sum.is_finite() {
                norm_row([x, r, w], h, eps, |i, normed| y[i] = T::narrow(normed as f32));
                continue;
            }
            let inverse = 1.0 / (sum / cols as f32 + eps as f32).sqrt();
            write(lanes, x, h, streamed, Added { r });
            write(lanes, x, y, streamed, Normed { r, w, inverse });
        }
        if streamed {
            lanes.fence();
        }
    }
}

/// (x + r)².
#[derive(Clone, Copy)]
pub(crate) struct SquareOfSum;

impl Terms<2, 1> for SquareOfSum {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum]: [L::F; 1], [x, r]: [L::F; 2]) -> [L::F; 1] {
        let h = lanes.add(x, r);
        [lanes.mul_add(h, h, sum)]
    }
}

/// x + r.
#[derive(Clone, Copy)]
pub(crate) struct Added<'a, T> {
    pub(crate) r: &'a [T],
}

impl<T: Element> Places for Added<'_, T> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, places: Range<usize>) -> L::F {
        lanes.add(x, at(lanes, self.r, places))
    }
}

/// (x + r) · (w · inverse).
#[derive(Clone, Copy)]
pub(crate) struct Normed<'a, T> {
    pub(crate) r: &'a [T],
    pub(crate) w: &'a [T],
    pub(crate) inverse: f32,
}

impl<T: Element> Places for Normed<'_, T> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, places: Range<usize>) -> L::F {
        let h = lanes.add(x, at(lanes, self.r, places.clone()));
        lanes.mul(h, lanes.mul(at(lanes, self.w, places), lanes.splat(self.inverse)))
    }
}
