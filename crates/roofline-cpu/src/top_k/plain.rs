//! One look at each number: what is larger than the least of those chosen takes its place among them.

use crate::{Cpu, Rows, Scalar};

/// The `top` largest numbers of each row of `x`, the largest first, and their columns. Of equal ones the first are taken.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, top_k};
///
/// let (mut y, mut at) = ([0.0; 2], [0; 2]);
/// top_k(&Cpu::serial(), &[1.0, 5.0, 3.0], &mut y, &mut at, Rows { rows: 1, cols: 3 }, 2);
/// assert_eq!((y, at), ([5.0, 3.0], [1, 2]));
/// ```
pub fn top_k<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], at: &mut [i32], shape: Rows, top: usize) {
    let Rows { rows, cols } = shape;
    assert!([x.len(), y.len(), at.len()] == [rows * cols, rows * top, rows * top], "lengths for {shape:?}");
    assert!(top <= cols, "{top} of {cols} columns");
    if top == 0 {
        return;
    }
    for (x, (y, at)) in x.chunks(cols).zip(y.chunks_mut(top).zip(at.chunks_mut(top))) {
        for (column, x) in x.iter().enumerate() {
            let chosen = column.min(top);
            let place = y[..chosen].iter().rposition(|y| y.wide() >= x.wide()).map_or(0, |last| last + 1);
            if place < top {
                let end = chosen.min(top - 1);
                y.copy_within(place..end, place + 1);
                at.copy_within(place..end, place + 1);
                (y[place], at[place]) = (*x, column as i32);
            }
        }
    }
}
