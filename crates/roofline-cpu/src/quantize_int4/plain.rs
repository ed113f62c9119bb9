//! The definition: the codes of each row as bytes of their own, and then in pairs.

use crate::quantize::plain::by_groups;
use crate::scratch::Scratch;
use crate::{Cpu, Rows, Scalar};

/// Codes q = round(x / s) in -7..=7, the first of two neighbours in the low half of a byte, and the scale s = max|x| / 7 of each
/// `block` elements of a row; of zeros it is 1.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, quantize_int4};
///
/// let (mut q, mut s) = ([0; 2], [0.0]);
/// quantize_int4(&Cpu::serial(), &[3.5f32, -0.5, 1.0], &mut q, &mut s, Rows { rows: 1, cols: 3 }, 3);
/// assert_eq!((q, s), ([0xf7u8 as i8, 2], [0.5]));
/// ```
pub fn quantize_int4<T: Scalar<Wide = f32>>(
    _cpu: &Cpu,
    x: &[T],
    q: &mut [i8],
    s: &mut [f32],
    shape: Rows,
    block: usize,
) {
    assert_eq!(q.len(), shape.rows * shape.cols.div_ceil(2), "bytes for {shape:?}");
    let mut codes = Scratch::<i8>::take(shape.len());
    by_groups(x, &mut codes, s, shape, block, 7.0, |x| x.round_ties_even().clamp(-7.0, 7.0) as i8);
    let rows = codes.chunks(shape.cols.max(1)).zip(q.chunks_mut(shape.cols.div_ceil(2).max(1)));
    for (pair, q) in rows.flat_map(|(codes, q)| codes.chunks(2).zip(q)) {
        *q = pair[0] & 15 | pair.get(1).map_or(0, |code| code << 4);
    }
}
