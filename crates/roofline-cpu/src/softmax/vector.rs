//! Three passes in lanes, with the exponentials kept in a row of f32.
//!
//! Over the definition: the exponential is a polynomial over all lanes and is
//! computed once; the row of exponentials stays in a near cache, so memory
//! sees `x` once and `y` once, the latter streamed when no cache would keep it,
//! and written while the next row is computed.
//! Four independent partial results hide the latency of max and sum.

use std::slice::{ChunksExact, ChunksExactMut};

use crate::lanes::Lanes;
use crate::math::exp;
use crate::rowwise::largest;
use crate::scratch::Scratch;
use crate::{Cpu, Element, Rows, Vectorize, stream};

/// Softmax of each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax::vector::softmax};
///
/// let mut y = [0.0; 4];
/// softmax(&Cpu::serial(), &[0.0, 0.0, 7.0, f32::NEG_INFINITY], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.5, 0.5, 1.0, 0.0]);
/// ```
pub fn softmax<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    super::check(x.len(), y.len(), shape);
    let streamed = cpu.streams(2 * size_of_val(x));
    let cols = shape.cols;
    cpu.isa.run(SoftmaxRows { x, y, cols, streamed, is_masked: false });
}

/// The same, 0 throughout where all of a row is -∞.
pub fn softmax_masked<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    super::check(x.len(), y.len(), shape);
    let streamed = cpu.streams(2 * size_of_val(x));
    let cols = shape.cols;
    cpu.isa.run(SoftmaxRows { x, y, cols, streamed, is_masked: true });
}

/// Softmax of rows of `cols` elements.
pub(super) struct SoftmaxRows<'a, T> {
    pub(super) x: &'a [T],
    pub(super) y: &'a mut [T],
    pub(super) cols: usize,
    pub(super) streamed: bool,
    /// Whether rows of -∞ only are 0, and not NaN.
    pub(super) is_masked: bool,
}

impl<T: Element> Vectorize for SoftmaxRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let cols = self.cols.max(1);
        let (mut this, mut last) = (Scratch::take(cols), Scratch::take(cols));
        let mut writer = Writer::new(lanes, &[], 0.0, &mut [], false);
        for (x, y) in self.x.chunks(cols).zip(self.y.chunks_mut(cols)) {
            let largest = largest(lanes, x);
            let sum = if self.is_masked && is_hidden(x, largest) {
                this.fill(0.0);
                1.0
            } else {
                exponentials(lanes, x, largest, &mut this, &mut writer)
            };
            writer.finish(lanes);
            std::mem::swap(&mut this, &mut last);
            // The sum is one at least, so its inverse loses nothing.
            writer = Writer::new(lanes, &last, 1.0 / sum, y, self.streamed);
        }
        writer.finish(lanes);
        if self.streamed {
            lanes.fence();
        }
    }
}

/// Whether all of a row is -∞, which is then its largest element, as it may be beside NaN.
fn is_hidden<T: Element>(x: &[T], largest: f32) -> bool {
    largest == f32::NEG_INFINITY && !x.iter().any(|x| x.wide().is_nan())
}

/// y = row · factor, a vector at a time: a row is written while the next one is
/// computed, so that memory has work all the time.
struct Writer<'a, L: Lanes, T> {
    row: ChunksExact<'a, f32>,
    y: ChunksExactMut<'a, T>,
    factor: L::F,
    streamed: bool,
}

impl<'a, L: Lanes, T: Element> Writer<'a, L, T> {
    #[inline(always)]
    fn new(lanes: L, row: &'a [f32], factor: f32, y: &'a mut [T], streamed: bool) -> Self {
        let factor = lanes.splat(factor);
        // Streaming stores need the start of a line.
        let head = if streamed { stream::unaligned_head(y) } else { 0 };
        let (row_head, row) = row.split_at(head);
        let (y_head, y) = y.split_at_mut(head);
        for (row, y) in row_head.chunks(L::LANES).zip(y_head.chunks_mut(L::LANES)) {
            let v = lanes.load_partial_f32(row, 0.0);
            T::store_partial(lanes, lanes.mul(v, factor), y);
        }
        Self { row: row.chunks_exact(L::LANES), y: y.chunks_exact_mut(L::LANES), factor, streamed }
    }

    /// Whether there was a vector left to write.
    #[inline(always)]
    fn step(&mut self, lanes: L) -> bool {
        let (Some(row), Some(y)) = (self.row.next(), self.y.next()) else { return false };
        let v = lanes.mul(lanes.load_f32(row), self.factor);
        if self.streamed {
            T::stream(lanes, v, y);
        } else {
            T::store(lanes, v, y);
        }
        true
    }

    #[inline(always)]
    fn finish(mut self, lanes: L) {
        while self.step(lanes) {}
        let tail = lanes.load_partial_f32(self.row.remainder(), 0.0);
        T::store_partial(lanes, lanes.mul(tail, self.factor), self.y.into_remainder());
    }
}

/// Writes exp(x - largest) to `row` and returns the sum; lets `writer` do a
/// vector for each of its own.
#[inline(always)]
fn exponentials<L: Lanes, T: Element>(
    lanes: L,
    x: &[T],
    largest: f32,
    row: &mut [f32],
    writer: &mut Writer<'_, L, T>,
) -> f32 {
    let cols = x.len();
    let lowest = T::narrow(f32::NEG_INFINITY);
    let shift = lanes.splat(largest);
    let mut sums = [lanes.splat(0.0); 4];
    let mut blocks = x.chunks_exact(4 * L::LANES);
    let mut rows = row.chunks_exact_mut(4 * L::LANES);
    for (block, row) in (&mut blocks).zip(&mut rows) {
        let parts = block.chunks_exact(L::LANES).zip(row.chunks_exact_mut(L::LANES));
        for (sum, (x, row)) in sums.iter_mut().zip(parts) {
            // The next row comes from memory while this one is computed.
            lanes.prefetch(x.as_ptr().wrapping_add(cols));
            let e = exp(lanes, lanes.sub(T::load(lanes, x), shift));
            lanes.store_f32(e, row);
            *sum = lanes.add(*sum, e);
            writer.step(lanes);
        }
    }
    let tail = rows.into_remainder().chunks_mut(L::LANES);
    for (x, row) in blocks.remainder().chunks(L::LANES).zip(tail) {
        // Lanes beyond the row hold -∞. If that is also the largest element,
        // they are NaN, and so is the row.
        let e = exp(lanes, lanes.sub(T::load_partial(lanes, x, lowest), shift));
        lanes.store_partial_f32(e, row);
        sums[0] = lanes.add(sums[0], e);
    }
    let [a, b, c, d] = sums;
    lanes.sum(lanes.add(lanes.add(a, b), lanes.add(c, d)))
}
