//! The definition: rows are counted, the counts added up, and each value put behind those of its row that came before it.

/// Where each row begins, and the numbers of the values row by row, those of a row in their order.
///
/// ```
/// use roofline_cpu::coo_to_csr;
///
/// let (mut offsets, mut order) = ([0; 4], [0; 3]);
/// coo_to_csr(&[2, 0, 2], &mut offsets, &mut order);
/// assert_eq!((offsets, order), ([0, 1, 1, 3], [1, 0, 2]));
/// ```
///
/// # Panics
/// If lengths do not fit, or a row is none of those that begin.
pub fn coo_to_csr(row_of: &[i32], offsets: &mut [i32], order: &mut [i32]) {
    assert!(row_of.len() == order.len() && !offsets.is_empty(), "lengths for {} values", order.len());
    offsets.fill(0);
    for row in row_of {
        offsets[*row as usize + 1] += 1;
    }
    for row in 1..offsets.len() {
        offsets[row] += offsets[row - 1];
    }
    // Each row's beginning moves on with its values, to where the next row begins.
    for (value, row) in (0..).zip(row_of) {
        let place = &mut offsets[*row as usize];
        order[*place as usize] = value;
        *place += 1;
    }
    let rows = offsets.len() - 1;
    offsets.copy_within(0..rows, 1);
    offsets[0] = 0;
}
