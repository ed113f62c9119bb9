//! The definition, element after element.

use crate::reduce::{Line, all, columns, middle, rows};
use crate::{Cpu, Rows, Scalar};

/// The sum of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum::plain::sum};
///
/// let mut y = [0.0; 2];
/// sum(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [3.0, 7.0]);
/// ```
pub fn sum<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rows(x, y, shape, total);
}

/// The sum of each column.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum::plain::sum_columns};
///
/// let mut y = [0.0; 2];
/// sum_columns(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [4.0, 6.0]);
/// ```
pub fn sum_columns<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columns(x, y, shape, total);
}

/// The sum of all.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum::plain::sum_all};
///
/// let mut y = [0.0];
/// sum_all(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [10.0]);
/// ```
pub fn sum_all<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all(x, y, shape, total);
}

/// The sum of each column of each matrix of x\[outer, length, inner\].
pub fn sum_axis<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    middle(x, y, shape, total);
}

fn total<T: Scalar>(line: Line<'_, T>) -> T::Wide {
    line.iter().sum()
}
