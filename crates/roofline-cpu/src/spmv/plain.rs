//! The definition: a sum for each row, or a place for each sum.

use super::Sparse;
use crate::{Real, Scalar};

/// y = A·x, A in rows (CSR).
///
/// ```
/// use roofline_cpu::{spmv, spmv::Sparse};
///
/// let mut y = [9.0; 3];
/// let a = Sparse { values: &[1.0, 2.0, 3.0], columns: &[1, 0, 1], rows: &[0, 2, 2, 3] };
/// spmv(a, &[10.0, 100.0], &mut y);
/// assert_eq!(y, [120.0, 0.0, 300.0]);
/// ```
///
/// # Panics
/// If lengths do not fit, or a column is none of x.
pub fn spmv<T: Scalar>(a: Sparse<'_, T>, x: &[T], y: &mut [T]) {
    let Sparse { values, columns, rows } = a;
    assert!(values.len() == columns.len() && rows.len() == y.len() + 1, "lengths for {} rows", y.len());
    for (row, y) in rows.windows(2).zip(y) {
        let row = row[0] as usize..row[1] as usize;
        let terms = values[row.clone()].iter().zip(&columns[row]);
        *y = T::narrow(terms.map(|(value, column)| value.wide() * x[*column as usize].wide()).sum());
    }
}

/// y = A·x, where each value has its row (COO); sums are kept beside y.
///
/// ```
/// use roofline_cpu::spmv::{Sparse, spmv_coo};
///
/// let mut y = [9.0; 3];
/// let a = Sparse { values: &[1.0, 2.0, 3.0], columns: &[1, 0, 1], rows: &[2, 0, 2] };
/// spmv_coo(a, &[10.0, 100.0], &mut y, &mut [0.0; 3]);
/// assert_eq!(y, [20.0, 0.0, 400.0]);
/// ```
///
/// # Panics
/// If lengths do not fit, a row is none of y, or a column none of x.
pub fn spmv_coo<T: Scalar>(a: Sparse<'_, T>, x: &[T], y: &mut [T], sums: &mut [T::Wide]) {
    let Sparse { values, columns, rows } = a;
    assert!(
        [columns.len(), rows.len(), sums.len()] == [values.len(), values.len(), y.len()],
        "lengths for {} rows",
        y.len()
    );
    sums.fill(T::Wide::of(0.0));
    for ((value, column), row) in values.iter().zip(columns).zip(rows) {
        sums[*row as usize] += value.wide() * x[*column as usize].wide();
    }
    y.iter_mut().zip(sums).for_each(|(y, sum)| *y = T::narrow(*sum));
}

/// y = A·x, A in columns (CSC); sums are kept beside y.
///
/// ```
/// use roofline_cpu::spmv::{Sparse, spmv_csc};
///
/// let mut y = [9.0; 3];
/// let a = Sparse { values: &[1.0, 2.0, 3.0], columns: &[0, 1, 3], rows: &[2, 0, 2] };
/// spmv_csc(a, &[10.0, 100.0], &mut y, &mut [0.0; 3]);
/// assert_eq!(y, [200.0, 0.0, 310.0]);
/// ```
///
/// # Panics
/// If lengths do not fit, or a row is none of y.
pub fn spmv_csc<T: Scalar>(a: Sparse<'_, T>, x: &[T], y: &mut [T], sums: &mut [T::Wide]) {
    let Sparse { values, columns, rows } = a;
    assert!(
        [columns.len(), rows.len(), sums.len()] == [x.len() + 1, values.len(), y.len()],
        "lengths for {} rows",
        y.len()
    );
    sums.fill(T::Wide::of(0.0));
    for (column, x) in columns.windows(2).zip(x) {
        let column = column[0] as usize..column[1] as usize;
        for (value, row) in values[column.clone()].iter().zip(&rows[column]) {
            sums[*row as usize] += value.wide() * x.wide();
        }
    }
    y.iter_mut().zip(sums).for_each(|(y, sum)| *y = T::narrow(*sum));
}
