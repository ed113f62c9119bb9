//! Copies of A and B in the order in which the inner loop reads them.
//!
//! A panel is a strip of the matrix, as wide as the register tile is high (A)
//! or wide (B), stored step by step: `width` numbers for the first step of the
//! sum, then `width` for the second. The inner loop then reads both panels
//! front to back. Strips at the edge are filled up with zeros; they meet only
//! lanes and rows that are never stored.

use std::ops::Range;

use super::Form;
use super::factor::{Factor, Number};
use crate::lanes::{Lanes, MAX_LANES};
use crate::{Product, Vectorize};

/// Vectors of a row that are asked for ahead: so many rows at once are more than
/// the processor follows by itself.
const AHEAD: usize = 4;

/// Rows of `source` \[_,k\] as a panel: the elements `depth` of each row.
/// Serves A, and B where it is \[n,k\]. Squares of it are transposed in
/// registers, and written step by step: where a vector is wider than the panel,
/// the next step overwrites what is too much.
#[inline(always)]
pub(crate) fn pack_rows<L: Lanes, T: Factor>(
    lanes: L,
    source: &[T],
    k: usize,
    rows: Range<usize>,
    depth: Range<usize>,
    panel: &mut [T::Total],
    width: usize,
) {
    let zero = T::Total::splat(lanes, T::Total::default());
    for first_step in (0..depth.len().div_ceil(T::DEPTH)).step_by(L::LANES) {
        for first_lane in (0..width).step_by(L::LANES) {
            let mut square = lanes.square(zero);
            let rows = rows.clone().skip(first_lane);
            for (row, packed) in rows.zip(square.as_mut()) {
                let row = &source[row * k..][depth.clone()][first_step * T::DEPTH..];
                lanes.prefetch(row.as_ptr().wrapping_add(AHEAD * L::LANES * T::DEPTH));
                *packed =
                    if row.len() >= L::LANES * T::DEPTH { T::load(lanes, row) } else { load_end(lanes, row) };
            }
            let square = T::Total::transpose(lanes, square);
            let steps = panel[first_step * width..].chunks_mut(width).len().min(L::LANES);
            for (step, &column) in square.as_ref()[..steps].iter().enumerate() {
                let start = (first_step + step) * width + first_lane;
                let end = panel.len().min(start + L::LANES);
                T::Total::put(lanes, column, false, &mut panel[start..end]);
            }
        }
    }
}

/// The packed numbers of the end of a row, zero beyond it.
#[inline(always)]
pub(super) fn load_end<L: Lanes, T: Factor>(lanes: L, row: &[T]) -> <T::Total as Number>::Vector<L> {
    let mut packed = [T::Total::default(); MAX_LANES];
    for (packed, elements) in packed.iter_mut().zip(row.chunks(T::DEPTH)) {
        let second = elements.get(1).copied().unwrap_or_default();
        *packed = T::pack(elements[0], second);
    }
    T::Total::load(lanes, &packed)
}

/// Columns of `source` \[k,n\] as a panel over the whole depth.
#[inline(always)]
fn pack_columns<T: Factor>(source: &[T], n: usize, cols: Range<usize>, panel: &mut [T::Total], width: usize) {
    let steps = panel.chunks_exact_mut(width);
    for (rows, target) in source.chunks(T::DEPTH * n).zip(steps) {
        let first = &rows[cols.clone()];
        let (target, beyond) = target.split_at_mut(first.len());
        beyond.fill(T::Total::default());
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

/// Packs the columns `cols` of the product, panel after panel, over the whole
/// depth.
pub(super) struct PackPanels<'a, T: Factor> {
    pub(super) b: &'a [T],
    pub(super) form: Form,
    pub(super) shape: Product,
    pub(super) cols: Range<usize>,
    pub(super) panels: &'a mut [T::Total],
}

impl<T: Factor> Vectorize for PackPanels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let PackPanels { b, form, shape, cols, panels } = self;
        let Product { n, k, .. } = shape;
        let width = 2 * L::LANES;
        let panels = panels.chunks_exact_mut(k.div_ceil(T::DEPTH) * width);
        for (start, panel) in cols.clone().step_by(width).zip(panels) {
            let cols = start..cols.end.min(start + width);
            match form {
                Form::Transposed => pack_rows(lanes, b, k, cols, 0..k, panel, width),
                Form::Straight => pack_columns(b, n, cols, panel, width),
            }
        }
    }
}
