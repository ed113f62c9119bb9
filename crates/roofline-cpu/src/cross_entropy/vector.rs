//! Two passes in lanes over each row, the second from a near cache; rows that do not count are not read.

use super::IGNORED;
use crate::lanes::Lanes;
use crate::logsumexp::vector::exponentials;
use crate::reduce::pairwise;
use crate::rowwise::{PIECE, largest};
use crate::scratch::Scratch;
use crate::{Cpu, Element, Pool, Rows, Vectorize};

/// The mean loss of the rows whose target is not [`IGNORED`]; NaN where there is none.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cross_entropy::vector::cross_entropy};
///
/// let mut y = [0.0_f32];
/// cross_entropy(&Cpu::serial(), &[0.0, 0.0, 9.0, 5.0], &[1, -100], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2f32.ln()]);
/// ```
pub fn cross_entropy<T: Element>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    mean(Pool::alone(), cpu, x, t, y, shape);
}

/// The same, rows on all threads.
pub fn cross_entropy_parallel<T: Element>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    mean(&cpu.pool, cpu, x, t, y, shape);
}

/// The loss of each row; 0 where its target is [`IGNORED`].
pub fn cross_entropy_none<T: Element>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    each(Pool::alone(), cpu, x, t, y, shape);
}

/// The same, rows on all threads.
pub fn cross_entropy_none_parallel<T: Element>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    each(&cpu.pool, cpu, x, t, y, shape);
}

fn mean<T: Element>(pool: &Pool, cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    assert!([x.len(), t.len(), y.len()] == [shape.len(), shape.rows, 1], "lengths for {shape:?}");
    let counted = t.iter().filter(|t| **t != IGNORED).count();
    let mut losses = Scratch::<f32>::take(shape.rows);
    run(pool, cpu, x, t, &mut losses, shape.cols);
    y[0] = T::narrow(pairwise(0..shape.rows, &|row| losses[row]) / counted as f32);
}

fn each<T: Element>(pool: &Pool, cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    assert!([x.len(), t.len(), y.len()] == [shape.len(), shape.rows, shape.rows], "lengths for {shape:?}");
    run(pool, cpu, x, t, y, shape.cols);
}

/// The losses as numbers of any type.
fn run<T: Element, Y: Element>(pool: &Pool, cpu: &Cpu, x: &[T], t: &[i32], y: &mut [Y], cols: usize) {
    pool.run_pieces(y, 1, PIECE / cols.max(1), |first, y| {
        cpu.isa.run(Losses { x: &x[first * cols..], t: &t[first..], y, cols });
    });
}

struct Losses<'a, T, Y> {
    x: &'a [T],
    t: &'a [i32],
    y: &'a mut [Y],
    cols: usize,
}

impl<T: Element, Y: Element> Vectorize for Losses<'_, T, Y> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (row, (t, y)) in self.t.iter().zip(self.y).enumerate() {
            let x = &self.x[row * self.cols..][..self.cols];
            let loss = if *t == IGNORED {
                0.0
            } else {
                let largest = largest(lanes, x);
                exponentials(lanes, x, largest).ln() - (x[*t as usize].wide() - largest)
            };
            *y = Y::narrow(loss);
        }
    }
}
