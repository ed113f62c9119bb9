//! Blocks of one length on all threads, their sums added in halves: the same bits whatever the number of threads.

use crate::reduce::pairwise;
use crate::{Cpu, Rows, Scalar};

/// Elements of a block.
const BLOCK: usize = 1 << 12;

/// The sum of all.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum::tree::sum_all};
///
/// let mut y = [0.0];
/// sum_all(&Cpu::new(2), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [10.0]);
/// ```
pub fn sum_all<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(), 1], "lengths for {shape:?}");
    let mut sums = vec![T::Wide::default(); x.len().div_ceil(BLOCK)];
    cpu.pool.run_pieces(&mut sums, 1, 1, |first, sums| {
        for (block, sum) in (first..).zip(sums) {
            let x = &x[block * BLOCK..x.len().min((block + 1) * BLOCK)];
            *sum = pairwise(0..x.len(), &|i| x[i].wide());
        }
    });
    y[0] = T::narrow(pairwise(0..sums.len(), &|i| sums[i]));
}
