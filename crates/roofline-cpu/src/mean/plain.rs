//! The definition, element after element.

use crate::reduce::{Line, all, columns, middle, rows};
use crate::{Cpu, Real, Rows, Scalar};

/// The mean of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mean::plain::mean};
///
/// let mut y = [0.0; 2];
/// mean(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [1.5, 3.5]);
/// ```
pub fn mean<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rows(x, y, shape, average);
}

/// The mean of each column.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mean::plain::mean_columns};
///
/// let mut y = [0.0; 2];
/// mean_columns(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2.0, 3.0]);
/// ```
pub fn mean_columns<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columns(x, y, shape, average);
}

/// The mean of all.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mean::plain::mean_all};
///
/// let mut y = [0.0];
/// mean_all(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2.5]);
/// ```
pub fn mean_all<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all(x, y, shape, average);
}

/// The mean of each column of each matrix of x\[outer, length, inner\].
pub fn mean_axis<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    middle(x, y, shape, average);
}

fn average<T: Scalar>(line: Line<'_, T>) -> T::Wide {
    let sum: T::Wide = line.iter().sum();
    sum / T::Wide::of(line.iter().count() as f64)
}
