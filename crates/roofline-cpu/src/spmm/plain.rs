//! The definition: a row of sums for each row of A.

use crate::spmv::Sparse;
use crate::{Real, Scalar};

/// Y = A·X; the sums of a row are kept beside Y, and are as many as X has columns.
///
/// ```
/// use roofline_cpu::spmm::spmm;
/// use roofline_cpu::spmv::Sparse;
///
/// let mut y = [9.0; 4];
/// let a = Sparse { values: &[1.0, 2.0], columns: &[1, 0], rows: &[0, 2, 2] };
/// spmm(a, &[1.0, 2.0, 10.0, 20.0], &mut y, &mut [0.0; 2]);
/// assert_eq!(y, [12.0, 24.0, 0.0, 0.0]);
/// ```
///
/// # Panics
/// If lengths do not fit, or a column is none of X.
pub fn spmm<T: Scalar>(a: Sparse<'_, T>, x: &[T], y: &mut [T], sums: &mut [T::Wide]) {
    let (Sparse { values, columns, rows }, n) = (a, sums.len());
    assert!(
        n > 0 && values.len() == columns.len() && (rows.len() - 1) * n == y.len(),
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
