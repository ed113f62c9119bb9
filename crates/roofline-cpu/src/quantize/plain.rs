//! The definition: the largest magnitude of each group, and a quotient for each element.

use super::Ties;
use crate::{Cpu, Rows, Scalar};

/// Codes q = round(x / s) in -127..=127 and the scale s = max|x| / 127 of each `block` elements of a row; of zeros it is 1.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, quantize::{Ties, plain::quantize}};
///
/// let (mut q, mut s) = ([0; 6], [0.0; 2]);
/// let x = [63.5f32, -0.25, 0.75, 0.0, 0.0, 0.0];
/// quantize(&Cpu::serial(), &x, &mut q, &mut s, Rows { rows: 2, cols: 3 }, 3, Ties::ToEven);
/// assert_eq!((q, s), ([127, 0, 2, 0, 0, 0], [0.5, 1.0]));
/// ```
pub fn quantize<T: Scalar<Wide = f32>>(
    _cpu: &Cpu,
    x: &[T],
    q: &mut [i8],
    s: &mut [f32],
    shape: Rows,
    block: usize,
    ties: Ties,
) {
    by_groups(x, q, s, shape, block, 127.0, |x| int8(x, ties));
}

/// Codes q = round(x / s) in -128..=127 and the scale s = 2·max|x| / 255 of each row, ties to even; of zeros it is 1.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, quantize::plain::quantize_full};
///
/// let (mut q, mut s) = ([0; 3], [0.0]);
/// quantize_full(&Cpu::serial(), &[-255.0f32, 255.0, 4.0], &mut q, &mut s, Rows { rows: 1, cols: 3 });
/// assert_eq!((q, s), ([-128, 127, 2], [2.0]));
/// ```
pub fn quantize_full<T: Scalar<Wide = f32>>(_cpu: &Cpu, x: &[T], q: &mut [i8], s: &mut [f32], shape: Rows) {
    by_groups(x, q, s, shape, shape.cols, 127.5, |x| x.round_ties_even().clamp(-128.0, 127.0) as i8);
}

/// The code of a quotient.
pub(crate) fn int8(x: f32, ties: Ties) -> i8 {
    let rounded = if ties == Ties::Away { x.round() } else { x.round_ties_even() };
    rounded.clamp(-127.0, 127.0) as i8
}

/// A scale for each group, which takes its largest magnitude to `most`, and a code for each quotient.
pub(crate) fn by_groups<T: Scalar<Wide = f32>, Q>(
    x: &[T],
    q: &mut [Q],
    s: &mut [f32],
    shape: Rows,
    block: usize,
    most: f32,
    code: impl Fn(f32) -> Q,
) {
    let of_row = shape.cols.div_ceil(block.max(1));
    let lengths = [shape.len(), shape.len(), shape.rows * of_row];
    assert!([x.len(), q.len(), s.len()] == lengths, "lengths for {shape:?} in blocks of {block}");
    let rows = x.chunks(shape.cols.max(1)).zip(q.chunks_mut(shape.cols.max(1)));
    let groups = rows.flat_map(|(x, q)| x.chunks(block.max(1)).zip(q.chunks_mut(block.max(1))));
    for ((x, q), s) in groups.zip(s) {
        let largest = x.iter().fold(0.0, |most: f32, x| most.max(x.wide().abs()));
        *s = if largest == 0.0 { 1.0 } else { largest / most };
        for (x, q) in x.iter().zip(q) {
            *q = code(x.wide() / *s);
        }
    }
}
