//! The definition: each row's number, as often as it has values.

/// The row of each value, from where rows begin.
///
/// ```
/// use roofline_cpu::csr_to_coo;
///
/// let mut row_of = [9; 3];
/// csr_to_coo(&[0, 2, 2, 3], &mut row_of);
/// assert_eq!(row_of, [0, 0, 2]);
/// ```
///
/// # Panics
/// If a row begins or ends beyond the values.
pub fn csr_to_coo(offsets: &[i32], row_of: &mut [i32]) {
    for (row, ends) in (0..).zip(offsets.windows(2)) {
        row_of[ends[0] as usize..ends[1] as usize].fill(row);
    }
}
