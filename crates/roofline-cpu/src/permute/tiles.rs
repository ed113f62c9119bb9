//! Axes that keep the last one in its place move whole lines; the others are transpositions, of squares of vectors.

use crate::scratch::Plain;
use crate::transpose::tiles::{Turn, turn};
use crate::{Cpu, Datum, Pool};

/// y, whose axes are those of x in `order`: \[2, 1, 0\] gives y \[c, b, a\] from x \[a, b, c\].
///
/// ```
/// use roofline_cpu::{Cpu, permute::tiles::permute};
///
/// let mut y = [0; 4];
/// permute(&Cpu::serial(), &[1, 2, 3, 4], &mut y, [2, 1, 2], [2, 1, 0]);
/// assert_eq!(y, [1, 3, 2, 4]);
/// ```
pub fn permute<T: Datum + Plain>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3], order: [usize; 3]) {
    on(Pool::alone(), cpu, x, y, shape, order);
}

/// The same on all threads.
///
/// ```
/// use roofline_cpu::{Cpu, permute};
///
/// let mut y = [0; 4];
/// permute(&Cpu::new(2), &[1, 2, 3, 4], &mut y, [2, 1, 2], [2, 1, 0]);
/// assert_eq!(y, [1, 3, 2, 4]);
/// ```
pub fn permute_parallel<T: Datum + Plain>(
    cpu: &Cpu,
    x: &[T],
    y: &mut [T],
    shape: [usize; 3],
    order: [usize; 3],
) {
    on(&cpu.pool, cpu, x, y, shape, order);
}

fn on<T: Datum + Plain>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    y: &mut [T],
    shape @ [a, b, c]: [usize; 3],
    order: [usize; 3],
) {
    let one = Turn { groups: 1, rows: a, middle: 1, cols: c };
    let turned = match order {
        [0, 2, 1] => Turn { groups: a, rows: b, ..one },
        [1, 2, 0] => Turn { cols: b * c, ..one },
        [2, 0, 1] => Turn { rows: a * b, ..one },
        [2, 1, 0] => Turn { middle: b, ..one },
        _ => return lines(pool, x, y, shape, order),
    };
    turn(pool, cpu, x, y, turned);
}

/// Elements that are worth handing to another thread.
const PIECE: usize = 1 << 14;

/// Lines of the last axis, which is the last of y too.
fn lines<T: Datum>(pool: &Pool, x: &[T], y: &mut [T], shape @ [a, b, c]: [usize; 3], order: [usize; 3]) {
    assert!(
        order[2] == 2 && [x.len(), y.len()] == [a * b * c; 2],
        "lengths for {shape:?} in order {order:?}"
    );
    let steps = order.map(|axis| [b * c, c, 1][axis]);
    let middle = shape[order[1]].max(1);
    pool.run_pieces(y, c, PIECE, |offset, y| {
        for (index, y) in (offset / c.max(1)..).zip(y.chunks_mut(c.max(1))) {
            let from = index / middle * steps[0] + index % middle * steps[1];
            y.copy_from_slice(&x[from..from + c]);
        }
    });
}
