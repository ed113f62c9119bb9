//! The loop of plain elementwise kernels.

use crate::{Rows, Scalar};

/// y = f(x).
#[track_caller]
pub(crate) fn map<T: Scalar>(x: &[T], y: &mut [T], shape: Rows, f: impl Fn(T::Wide) -> T::Wide) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    for (x, y) in x.iter().zip(y) {
        *y = T::narrow(f(x.wide()));
    }
}

/// z = f(x, y).
#[track_caller]
pub(crate) fn zip<T: Scalar>(
    x: &[T],
    y: &[T],
    z: &mut [T],
    shape: Rows,
    f: impl Fn(T::Wide, T::Wide) -> T::Wide,
) {
    assert!([x.len(), y.len(), z.len()] == [shape.len(); 3], "lengths for {shape:?}");
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        *z = T::narrow(f(x.wide(), y.wide()));
    }
}
