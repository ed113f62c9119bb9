//! The definition, element after element.

use crate::reduce::{Line, all, columns, middle, rows};
use crate::{Cpu, Float, Rows, Scalar};

/// The largest element of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, max::plain::max};
///
/// let mut y = [0.0; 2];
/// max(&Cpu::serial(), &[1.0, 2.0, 4.0, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2.0, 4.0]);
/// ```
pub fn max<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rows(x, y, shape, largest);
}

/// The largest element of each column.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, max::plain::max_columns};
///
/// let mut y = [0.0; 2];
/// max_columns(&Cpu::serial(), &[1.0, 2.0, 4.0, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [4.0, 3.0]);
/// ```
pub fn max_columns<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columns(x, y, shape, largest);
}

/// The largest element of all.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, max::plain::max_all};
///
/// let mut y = [0.0];
/// max_all(&Cpu::serial(), &[1.0, 2.0, 4.0, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [4.0]);
/// ```
pub fn max_all<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all(x, y, shape, largest);
}

/// The largest element of each column of each matrix of x\[outer, length, inner\].
pub fn max_axis<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    middle(x, y, shape, largest);
}

pub(super) fn largest<T: Scalar>(line: Line<'_, T>) -> T::Wide {
    line.iter().fold(T::Wide::neg_infinity(), |max, x| if max >= x || max.is_nan() { max } else { x })
}
