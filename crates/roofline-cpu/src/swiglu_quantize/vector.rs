//! In lanes: a row of silu(gate) · up in the nearest cache, its largest magnitude, then its codes.

use crate::bits8::Bits8;
use crate::lanes::Lanes;
use crate::math::logistic;
use crate::matmul::block::Block;
use crate::quantize::vector::{Coding, write_row};
use crate::rowwise::{PIECE, at};
use crate::scratch::Scratch;
use crate::{Cpu, Element, Pool, Rows, Vectorize};

/// Codes q and a scale s of each row of silu(gate) · up, rows on the threads of a pool.
pub(crate) fn swiglu_quantize<T: Element, C: Coding>(
    pool: &Pool,
    cpu: &Cpu,
    [gate, up]: [&[T]; 2],
    q: &mut [C::Code],
    s: &mut [f32],
    shape: Rows,
    codes: C,
) {
    assert!([gate.len(), up.len(), q.len()] == [shape.len(); 3], "lengths for {shape:?}");
    assert!(s.len() == shape.rows, "length of s for {shape:?}");
    let cols = shape.cols;
    let q = Block::new(Bits8::bytes_mut(q), shape.rows, cols);
    let s = Block::new(s, shape.rows, 1);
    pool.run_parts(shape.rows, 1, PIECE.div_ceil(cols.max(1)), |rows| {
        // SAFETY: parts do not overlap.
        let (q, s) = unsafe { (q.part(rows.clone(), 0..cols), s.part(rows.clone(), 0..1)) };
        let inputs = [gate, up].map(|input| &input[rows.start * cols..rows.end * cols]);
        cpu.isa.run(Quantized { inputs, q, s, codes });
    });
}

struct Quantized<'a, T, C> {
    inputs: [&'a [T]; 2],
    q: Block<'a, i8>,
    s: Block<'a, f32>,
    codes: C,
}

impl<T: Element, C: Coding> Vectorize for Quantized<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let cols = self.q.cols();
        let mut y = Scratch::<f32>::take(cols);
        for row in 0..self.q.rows() {
            let [gate, up] = self.inputs.map(|input| &input[row * cols..][..cols]);
            for (index, y) in y.chunks_mut(L::LANES).enumerate() {
                let places = index * L::LANES..index * L::LANES + y.len();
                let gate = at(lanes, gate, places.clone());
                let silu = lanes.mul(gate, logistic(lanes, gate));
                lanes.store_partial_f32(lanes.mul(silu, at(lanes, up, places)), y);
            }
            write_row(lanes, &y[..], self.q.row(row), &mut self.s.row(row)[0], self.codes);
        }
    }
}
