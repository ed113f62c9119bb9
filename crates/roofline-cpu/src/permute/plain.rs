//! The definition: every element of y in order.

use crate::{Cpu, Datum};

/// y, whose axes are those of x in `order`: \[2, 1, 0\] gives y \[c, b, a\] from x \[a, b, c\].
///
/// ```
/// use roofline_cpu::{Cpu, permute::plain::permute};
///
/// let mut y = [0; 4];
/// permute(&Cpu::serial(), &[1, 2, 3, 4], &mut y, [2, 1, 2], [2, 1, 0]);
/// assert_eq!(y, [1, 3, 2, 4]);
/// ```
pub fn permute<T: Datum>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3], order: [usize; 3]) {
    assert!([x.len(), y.len()] == [shape.iter().product(); 2], "lengths for {shape:?}");
    let steps = order.map(|axis| [shape[1] * shape[2], shape[2], 1][axis]);
    let sizes = order.map(|axis| shape[axis]);
    let mut y = y.iter_mut();
    for i in 0..sizes[0] {
        for j in 0..sizes[1] {
            for (k, y) in (0..sizes[2]).zip(&mut y) {
                *y = x[i * steps[0] + j * steps[1] + k * steps[2]];
            }
        }
    }
}
