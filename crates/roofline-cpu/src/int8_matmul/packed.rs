//! The sums by a rung of [`matmul`](crate::matmul), kept beside C, and a pass over them in lanes that scales.

use super::Scaled;
use crate::bind::Multiply;
use crate::lanes::Lanes;
use crate::matmul::{self, packed};
use crate::rowwise::{PIECE, at};
use crate::scratch::Scratch;
use crate::{Cpu, Element, Pool, Product, Vectorize};

/// C = (A·Bᵀ)·sa·sb, by packed panels and a register tile.
///
/// ```
/// use roofline_cpu::{Cpu, Product, int8_matmul::{Scaled, packed::int8_matmul}};
///
/// let mut c = [0.0f32];
/// let (a, b) = (Scaled { codes: &[-3], scales: &[0.5] }, Scaled { codes: &[2], scales: &[0.25] });
/// int8_matmul(&Cpu::serial(), a, b, &mut c, Product { m: 1, n: 1, k: 1 });
/// assert_eq!(c, [-0.75]);
/// ```
pub fn int8_matmul<O: Element>(cpu: &Cpu, a: Scaled, b: Scaled, c: &mut [O], shape: Product) {
    scaled(cpu, Pool::alone(), a, b, c, shape, packed::matmul);
}

/// The same on all threads, by tile registers where the processor has them.
pub fn int8_matmul_parallel<O: Element>(cpu: &Cpu, a: Scaled, b: Scaled, c: &mut [O], shape: Product) {
    scaled(cpu, &cpu.pool, a, b, c, shape, matmul::matmul);
}

fn scaled<O: Element>(
    cpu: &Cpu,
    pool: &Pool,
    a: Scaled,
    b: Scaled,
    c: &mut [O],
    shape: Product,
    kernel: Multiply<i8, i32>,
) {
    a.check(shape.m);
    b.check(shape.n);
    shape.check(a.codes.len(), b.codes.len(), c.len());
    let n = shape.n.max(1);
    let mut sums = Scratch::take(shape.m * shape.n);
    kernel(cpu, a.codes, b.codes, &mut sums, shape);
    pool.run_pieces(c, n, PIECE, |offset, c| {
        cpu.isa.run(Scale { a, b, first: offset / n, sums: &sums[offset..][..c.len()], n, c });
    });
}

/// Some rows of C from their sums.
struct Scale<'a, O> {
    a: Scaled<'a>,
    b: Scaled<'a>,
    /// The number of the first of them.
    first: usize,
    sums: &'a [i32],
    n: usize,
    c: &'a mut [O],
}

impl<O: Element> Vectorize for Scale<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Scale { a, b, first, sums, n, c } = self;
        for (row, (sums, c)) in (first..).zip(sums.chunks_exact(n).zip(c.chunks_exact_mut(n))) {
            let of_row = lanes.splat(a.scale(row));
            for from in (0..n).step_by(L::LANES) {
                let places = from..n.min(from + L::LANES);
                let of_column = match b.scales {
                    [one] => lanes.splat(*one),
                    each => at(lanes, each, places.clone()),
                };
                let (sums, c) = (&sums[places.clone()], &mut c[places]);
                let whole = sums.len() == L::LANES;
                let sum = if whole { lanes.load_i32(sums) } else { lanes.load_partial_i32(sums) };
                let scaled = lanes.mul(lanes.mul(lanes.of_i32(sum), of_row), of_column);
                if whole { O::store(lanes, scaled, c) } else { O::store_partial(lanes, scaled, c) }
            }
        }
    }
}
