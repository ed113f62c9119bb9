//! Copies of A and B in the order in which the inner loop reads them.
//!
//! A panel is a strip of the matrix, as wide as the register tile is high (A)
//! or wide (B), stored step by step: `width` numbers for the first step of the
//! sum, then `width` for the second. The inner loop then reads both panels
//! front to back. Strips at the edge are filled up with zeros; they meet only
//! lanes and rows that are never stored.

use std::ops::Range;

use super::{Factor, Form};
use crate::Product;

/// Rows of `source` \[_,k\] as a panel: the elements `depth` of each row.
/// Serves A, and B where it is \[n,k\].
pub(super) fn pack_rows<T: Factor>(
    source: &[T],
    k: usize,
    rows: Range<usize>,
    depth: Range<usize>,
    panel: &mut [T::Number],
    width: usize,
) {
    if rows.len() < width {
        panel.fill(T::Number::default());
    }
    for (lane, row) in rows.enumerate() {
        let row = &source[row * k..][depth.clone()];
        let targets = panel[lane..].iter_mut().step_by(width);
        for (elements, target) in row.chunks(T::DEPTH).zip(targets) {
            let second = elements.get(1).copied().unwrap_or_default();
            *target = T::pack(elements[0], second);
        }
    }
}

/// Columns of `source` \[k,n\] as a panel over the whole depth.
fn pack_columns<T: Factor>(
    source: &[T],
    n: usize,
    cols: Range<usize>,
    panel: &mut [T::Number],
    width: usize,
) {
    let steps = panel.chunks_exact_mut(width);
    for (rows, target) in source.chunks(T::DEPTH * n).zip(steps) {
        let first = &rows[cols.clone()];
        let (target, beyond) = target.split_at_mut(first.len());
        beyond.fill(T::Number::default());
        if let Some(second) = rows.get(n + cols.start..n + cols.end) {
            for ((target, &first), &second) in target.iter_mut().zip(first).zip(second) {
                *target = T::pack(first, second);
            }
        } else {
            for (target, &first) in target.iter_mut().zip(first) {
                *target = T::pack(first, T::default());
            }
        }
    }
}

/// The columns `cols` of the product as a panel of B over the whole depth.
pub(super) fn pack_panel<T: Factor>(
    b: &[T],
    form: Form,
    shape: Product,
    cols: Range<usize>,
    panel: &mut [T::Number],
    width: usize,
) {
    match form {
        Form::Transposed => pack_rows(b, shape.k, cols, 0..shape.k, panel, width),
        Form::Straight => pack_columns(b, shape.n, cols, panel, width),
    }
}
