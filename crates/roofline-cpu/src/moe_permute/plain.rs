//! The definition: places counted and sorted by expert, as [`coo_to_csr`] does with rows, and a copy for each.

use crate::{Datum, coo_to_csr};

/// What comes of tokens: their rows by expert, the place that each comes from, and where the rows of each expert begin.
#[derive(Debug)]
pub struct Sorted<'a, T> {
    /// Rows.
    pub y: &'a mut [T],
    /// Places, numbered token by token.
    pub order: &'a mut [i32],
    /// Beginnings, and the number of all.
    pub offsets: &'a mut [i32],
}

/// Sorts the rows of `x`, of `cols` elements each, by the experts that `at` names for each token.
///
/// ```
/// use roofline_cpu::moe_permute::{Sorted, moe_permute};
///
/// // Two tokens of one element and of two experts each.
/// let (mut y, mut order, mut offsets) = ([0.0; 4], [0; 4], [0; 3]);
/// let sorted = Sorted { y: &mut y, order: &mut order, offsets: &mut offsets };
/// moe_permute(&[5.0, 7.0], &[1, 0, 0, 1], sorted, 1);
/// assert_eq!((y, order, offsets), ([5.0, 7.0, 5.0, 7.0], [1, 2, 0, 3], [0, 2, 4]));
/// ```
///
/// # Panics
/// If lengths do not fit, or an expert is none of those that begin.
pub fn moe_permute<T: Datum>(x: &[T], at: &[i32], sorted: Sorted<'_, T>, cols: usize) {
    let Sorted { y, order, offsets } = sorted;
    let top = at.len() / (x.len() / cols.max(1)).max(1);
    assert!(y.len() == at.len() * cols && x.len() * top == y.len(), "lengths for {cols} columns");
    coo_to_csr(at, offsets, order);
    for (y, place) in y.chunks_mut(cols.max(1)).zip(order) {
        y.copy_from_slice(&x[*place as usize / top * cols..][..cols]);
    }
}
