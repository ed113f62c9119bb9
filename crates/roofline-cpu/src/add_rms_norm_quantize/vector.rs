//! In lanes: the sums and the sum of their squares, a row of norms in the nearest cache, its largest magnitude, then its codes.
//!
//! A row whose squares leave the range of f32 (or which holds NaN or infinity) is the definition's.

use crate::add_rms_norm::plain::norm_row;
use crate::add_rms_norm::vector::{Added, Normed, SquareOfSum};
use crate::bits8::Bits8;
use crate::lanes::Lanes;
use crate::matmul::block::Block;
use crate::quantize::vector::{Coding, write_row};
use crate::rowwise::{PIECE, Places, at, sums, write};
use crate::scratch::Scratch;
use crate::{Cpu, Element, Pool, Rows, Vectorize};

/// h = x + r, codes q and a scale s of each row of its norm, rows on the threads of a pool; inputs x, r and w.
#[expect(clippy::too_many_arguments, reason = "the arguments of the public function, and threads")]
pub(crate) fn add_rms_norm_quantize<T: Element, C: Coding>(
    pool: &Pool,
    cpu: &Cpu,
    [x, r, w]: [&[T]; 3],
    h: &mut [T],
    (q, s): (&mut [C::Code], &mut [f32]),
    shape: Rows,
    eps: f64,
    codes: C,
) {
    assert!([x.len(), r.len(), h.len(), q.len()] == [shape.len(); 4], "lengths for {shape:?}");
    assert!([w.len(), s.len()] == [shape.cols, shape.rows], "lengths for {shape:?}");
    let (rows, cols) = (shape.rows, shape.cols);
    let (h, s) = (Block::new(h, rows, cols), Block::new(s, rows, 1));
    let q = Block::new(Bits8::bytes_mut(q), rows, cols);
    pool.run_parts(rows, 1, PIECE.div_ceil(cols.max(1)), |rows| {
        let part = rows.start * cols..rows.end * cols;
        let [x, r] = [x, r].map(|input| &input[part.clone()]);
        // SAFETY: parts do not overlap.
        let (h, q, s) = unsafe {
            (h.part(rows.clone(), 0..cols), q.part(rows.clone(), 0..cols), s.part(rows.clone(), 0..1))
        };
        cpu.isa.run(Quantized { x, r, w, h, q, s, eps, codes });
    });
}

struct Quantized<'a, T, C> {
    x: &'a [T],
    r: &'a [T],
    w: &'a [T],
    h: Block<'a, T>,
    q: Block<'a, i8>,
    s: Block<'a, f32>,
    eps: f64,
    codes: C,
}

impl<T: Element, C: Coding> Vectorize for Quantized<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let (w, cols) = (self.w, self.w.len());
        let mut y = Scratch::<f32>::take(cols);
        for row in 0..self.h.rows() {
            let [x, r] = [self.x, self.r].map(|input| &input[row * cols..][..cols]);
            let h = self.h.row(row);
            let [sum] = sums(lanes, [x, r], SquareOfSum);
            if sum.is_finite() {
                let inverse = 1.0 / (sum / cols as f32 + self.eps as f32).sqrt();
                write(lanes, x, h, false, Added { r });
                for (index, y) in y.chunks_mut(L::LANES).enumerate() {
                    let places = index * L::LANES..index * L::LANES + y.len();
                    let x = at(lanes, x, places.clone());
                    lanes.store_partial_f32(Normed { r, w, inverse }.of(lanes, x, places), y);
                }
            } else {
                norm_row([x, r, w], h, self.eps, |i, normed| y[i] = normed as f32);
            }
            write_row(lanes, &y[..], self.q.row(row), &mut self.s.row(row)[0], self.codes);
        }
    }
}
