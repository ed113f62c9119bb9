//! The definition, element after element.

use crate::reduce::{Line, all, columns, middle, rows};
use crate::{Cpu, Float, Rows, Scalar};

/// The logarithm of the sum of exponentials of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, logsumexp::plain::logsumexp};
///
/// let mut y = [0.0; 2];
/// logsumexp(&Cpu::serial(), &[0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.0, 0.0]);
/// ```
pub fn logsumexp<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rows(x, y, shape, log_sum);
}

/// The logarithm of the sum of exponentials of each column.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, logsumexp::plain::logsumexp_columns};
///
/// let mut y = [0.0; 2];
/// logsumexp_columns(&Cpu::serial(), &[0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.0, 0.0]);
/// ```
pub fn logsumexp_columns<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columns(x, y, shape, log_sum);
}

/// The logarithm of the sum of exponentials of all.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, logsumexp::plain::logsumexp_all};
///
/// let mut y = [0.0];
/// logsumexp_all(&Cpu::serial(), &[0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2f64.ln()]);
/// ```
pub fn logsumexp_all<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all(x, y, shape, log_sum);
}

/// The logarithm of the sum of exponentials of each column of each matrix of x\[outer, length, inner\].
pub fn logsumexp_axis<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    middle(x, y, shape, log_sum);
}

/// Infinite where the largest element is: there is nothing finite to take off.
pub(super) fn log_sum<T: Scalar>(line: Line<'_, T>) -> T::Wide {
    let largest = line.largest();
    if largest.is_infinite() && !line.iter().any(Float::is_nan) {
        return largest;
    }
    let sum: T::Wide = line.iter().map(|x| (x - largest).exp()).sum();
    largest + sum.ln()
}
