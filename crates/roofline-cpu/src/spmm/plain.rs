//! The definition: a row of sums for each row of A, one after the other or all at once.

use crate::spmv::Sparse;
use crate::{Real, Scalar};

/// Y = A·X, A in rows (CSR) and X of n columns; the sums of a row are kept beside Y.
///
/// ```
/// use roofline_cpu::{spmm, spmv::Sparse};
///
/// let mut y = [9.0; 4];
/// let a = Sparse { values: &[1.0, 2.0], columns: &[1, 0], rows: &[0, 2, 2] };
/// spmm(a, &[1.0, 2.0, 10.0, 20.0], &mut y, 2, &mut [0.0; 2]);
/// assert_eq!(y, [12.0, 24.0, 0.0, 0.0]);
/// ```
///
/// # Panics
/// If lengths do not fit, or a column is none of X.
pub fn spmm<T: Scalar>(a: Sparse<'_, T>, x: &[T], y: &mut [T], n: usize, sums: &mut [T::Wide]) {
    let Sparse { values, columns, rows } = a;
    assert!(
        n > 0 && sums.len() == n && values.len() == columns.len() && (rows.len() - 1) * n == y.len(),
        "lengths for {n} columns"
    );
    for (row, y) in rows.windows(2).zip(y.chunks_exact_mut(n)) {
        let row = row[0] as usize..row[1] as usize;
        sums.fill(T::Wide::of(0.0));
        for (value, column) in values[row.clone()].iter().zip(&columns[row]) {
            let x = &x[*column as usize * n..][..n];
            sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += value.wide() * x.wide());
        }
        y.iter_mut().zip(&*sums).for_each(|(y, sum)| *y = T::narrow(*sum));
    }
}

/// Y = A·X, where each value has its row (COO); all sums are kept beside Y.
///
/// ```
/// use roofline_cpu::spmm::spmm_coo;
/// use roofline_cpu::spmv::Sparse;
///
/// let mut y = [9.0; 4];
/// let a = Sparse { values: &[1.0, 2.0], columns: &[1, 0], rows: &[1, 1] };
/// spmm_coo(a, &[1.0, 2.0, 10.0, 20.0], &mut y, 2, &mut [0.0; 4]);
/// assert_eq!(y, [0.0, 0.0, 12.0, 24.0]);
/// ```
///
/// # Panics
/// If lengths do not fit, a row is none of Y, or a column none of X.
pub fn spmm_coo<T: Scalar>(a: Sparse<'_, T>, x: &[T], y: &mut [T], n: usize, sums: &mut [T::Wide]) {
    let Sparse { values, columns, rows } = a;
    assert!(
        [columns.len(), rows.len(), sums.len()] == [values.len(), values.len(), y.len()],
        "lengths for {n} columns"
    );
    sums.fill(T::Wide::of(0.0));
    for ((value, column), row) in values.iter().zip(columns).zip(rows) {
        let (x, sums) = (&x[*column as usize * n..][..n], &mut sums[*row as usize * n..][..n]);
        sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += value.wide() * x.wide());
    }
    y.iter_mut().zip(sums).for_each(|(y, sum)| *y = T::narrow(*sum));
}
