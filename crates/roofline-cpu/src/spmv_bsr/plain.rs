//! The definition: a sum for each row of each row of blocks.

use crate::Scalar;
use crate::spmv::Sparse;

/// y = A·x, A in rows of blocks, each of which stands row by row.
///
/// ```
/// use roofline_cpu::spmv::Sparse;
/// use roofline_cpu::spmv_bsr;
///
/// let mut y = [9.0; 4];
/// // One block of 2×2, in the first row of blocks and the second column.
/// let a = Sparse { values: &[1.0, 2.0, 3.0, 4.0], columns: &[1], rows: &[0, 1, 1] };
/// spmv_bsr(a, 2, &[0.0, 0.0, 10.0, 100.0], &mut y);
/// assert_eq!(y, [210.0, 430.0, 0.0, 0.0]);
/// ```
///
/// # Panics
/// If lengths do not fit, or a column is none of x.
pub fn spmv_bsr<T: Scalar>(a: Sparse<'_, T>, side: usize, x: &[T], y: &mut [T]) {
    let Sparse { values, columns, rows } = a;
    assert!(
        [values.len(), y.len()] == [columns.len() * side * side, (rows.len() - 1) * side],
        "lengths for {} blocks of {side}",
        columns.len()
    );
    for (row, y) in rows.windows(2).zip(y.chunks_exact_mut(side)) {
        let blocks = row[0] as usize..row[1] as usize;
        for (within, y) in y.iter_mut().enumerate() {
            let of_block = |block: usize| {
                let line = &values[(block * side + within) * side..][..side];
                let met = &x[columns[block] as usize * side..][..side];
                line.iter().zip(met).map(|(value, x)| value.wide() * x.wide())
            };
            *y = T::narrow(blocks.clone().flat_map(of_block).sum());
        }
    }
}
