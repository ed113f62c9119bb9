//! The loops of plain reductions: one number for each row, for each column, or for all.

use crate::{Float, Real, Rows, Scalar};
use std::ops::Range;

/// Elements of a matrix at equal distances: a row, a column, or all of it.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a, T> {
    x: &'a [T],
    step: usize,
}

impl<'a, T: Scalar> Line<'a, T> {
    pub(crate) fn row(x: &'a [T]) -> Self {
        Self { x, step: 1 }
    }

    /// Column `index` of a matrix.
    pub(crate) fn column(x: &'a [T], shape: Rows, index: usize) -> Self {
        Self { x: x.get(index..).unwrap_or_default(), step: shape.cols }
    }

    /// The largest element; NaN is left to the sums that follow.
    pub(crate) fn largest(self) -> T::Wide {
        self.iter().fold(T::Wide::neg_infinity(), |max, x| max.max(x))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = T::Wide> + Clone + 'a {
        self.x.iter().step_by(self.step).map(|x| x.wide())
    }
}

/// The sum of some terms, that of each half first: the error grows with the logarithm of their number.
pub(crate) fn pairwise<W: Real>(terms: Range<usize>, term: &impl Fn(usize) -> W) -> W {
    const FEW: usize = 32;
    if terms.len() <= FEW {
        return terms.map(term).sum();
    }
    let middle = terms.start + terms.len() / 2;
    pairwise(terms.start..middle, term) + pairwise(middle..terms.end, term)
}

/// y\[i\] = f(row i of x).
#[track_caller]
pub(crate) fn rows<T: Scalar>(x: &[T], y: &mut [T], shape: Rows, f: impl Fn(Line<'_, T>) -> T::Wide) {
    assert!([x.len(), y.len()] == [shape.len(), shape.rows], "lengths for {shape:?}");
    for (i, y) in y.iter_mut().enumerate() {
        *y = T::narrow(f(Line::row(&x[i * shape.cols..][..shape.cols])));
    }
}

/// y\[j\] = f(column j of x).
#[track_caller]
pub(crate) fn columns<T: Scalar>(x: &[T], y: &mut [T], shape: Rows, f: impl Fn(Line<'_, T>) -> T::Wide) {
    assert!([x.len(), y.len()] == [shape.len(), shape.cols], "lengths for {shape:?}");
    for (j, y) in y.iter_mut().enumerate() {
        *y = T::narrow(f(Line::column(x, shape, j)));
    }
}

/// y\[i, k\] = f(elements \[i, .., k\] of x).
#[track_caller]
pub(crate) fn middle<T: Scalar>(
    x: &[T],
    y: &mut [T],
    shape @ [outer, length, inner]: [usize; 3],
    f: impl Fn(Line<'_, T>) -> T::Wide,
) {
    assert!([x.len(), y.len()] == [outer * length * inner, outer * inner], "lengths for {shape:?}");
    let matrix = Rows { rows: length, cols: inner };
    for (i, y) in y.chunks_mut(inner.max(1)).enumerate() {
        columns(&x[i * matrix.len()..][..matrix.len()], y, matrix, &f);
    }
}

/// y\[0\] = f(x).
#[track_caller]
pub(crate) fn all<T: Scalar>(x: &[T], y: &mut [T], shape: Rows, f: impl Fn(Line<'_, T>) -> T::Wide) {
    assert!([x.len(), y.len()] == [shape.len(), 1], "lengths for {shape:?}");
    y[0] = T::narrow(f(Line::row(x)));
}
