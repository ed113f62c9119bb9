//! The definition: the order of [`coo_to_csr`](crate::coo_to_csr), and what it brings to each place.

use crate::coo_to_csr::coo_to_csr;

/// Where rows begin, and columns and values row by row, from rows, columns and values in no order; `order` is written on
/// the way.
///
/// ```
/// use roofline_cpu::coo_to_csr_values;
///
/// let (mut offsets, mut columns, mut values) = ([0; 4], [0; 3], [0.0; 3]);
/// let given = (&[2, 0, 2][..], &[7, 8, 9][..], &[1.5, 2.5, 3.5][..]);
/// coo_to_csr_values(given, &mut [0; 3], (&mut offsets, &mut columns, &mut values));
/// assert_eq!((offsets, columns, values), ([0, 1, 1, 3], [8, 7, 9], [2.5, 1.5, 3.5]));
/// ```
///
/// # Panics
/// If lengths do not fit, or a row is none of those that begin.
pub fn coo_to_csr_values<T: Copy>(
    (row_of, columns, values): (&[i32], &[i32], &[T]),
    order: &mut [i32],
    (offsets, columns_out, y): (&mut [i32], &mut [i32], &mut [T]),
) {
    assert!(
        [columns.len(), columns_out.len(), y.len()] == [values.len(); 3],
        "lengths for {} values",
        values.len()
    );
    coo_to_csr(row_of, offsets, order);
    for ((value, column), y) in order.iter().zip(columns_out).zip(y) {
        *column = columns[*value as usize];
        *y = values[*value as usize];
    }
}
