//! What each addition rounds away is added up beside the sum (Neumaier): the error no longer grows with the length.

use crate::reduce::{Line, all, columns, rows};
use crate::{Cpu, Float, Real, Rows, Scalar};

/// The sum of each row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum::compensated::sum};
///
/// let mut y = [0.0_f32];
/// sum(&Cpu::serial(), &[1e8, 1.0, -1e8], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0]);
/// ```
pub fn sum<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    rows(x, y, shape, total);
}

/// The sum of each column.
pub fn sum_columns<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    columns(x, y, shape, total);
}

/// The sum of all.
pub fn sum_all<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    all(x, y, shape, total);
}

fn total<T: Scalar>(line: Line<'_, T>) -> T::Wide {
    let (mut sum, mut lost) = (T::Wide::of(0.0), T::Wide::of(0.0));
    for x in line.iter() {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    // Of infinities nothing is rounded away.
    if sum.is_finite() { sum + lost } else { sum }
}
