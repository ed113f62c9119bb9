//! The vector kernel on all threads: each takes groups of its own, or its part of the only one.

use super::{Ties, vector};
use crate::{Cpu, Element, Rows};

/// Codes q = round(x / s) in -127..=127 and the scale s = max|x| / 127 of each `block` elements of a row; of zeros it is 1.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, quantize::{Ties, parallel::quantize}};
///
/// let (mut q, mut s) = ([0; 3], [0.0]);
/// let shape = Rows { rows: 1, cols: 3 };
/// quantize(&Cpu::new(2), &[1.25f32, 127.0, -0.5], &mut q, &mut s, shape, 3, Ties::Away);
/// assert_eq!((q, s), ([1, 127, -1], [1.0]));
/// ```
pub fn quantize<T: Element>(
    cpu: &Cpu,
    x: &[T],
    q: &mut [i8],
    s: &mut [f32],
    shape: Rows,
    block: usize,
    ties: Ties,
) {
    vector::int8(&cpu.pool, cpu, x, q, s, shape, block, ties);
}

/// Codes q = round(x / s) in -128..=127 and the scale s = 2·max|x| / 255 of each row, ties to even; of zeros it is 1.
pub fn quantize_full<T: Element>(cpu: &Cpu, x: &[T], q: &mut [i8], s: &mut [f32], shape: Rows) {
    vector::by_groups(&cpu.pool, cpu, x, q, s, shape, shape.cols, vector::Full);
}
