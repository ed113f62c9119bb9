//! As many blocks whatever the number of threads, their sums added in halves: the same bits on any.

use crate::reduce::pairwise;
use crate::{Cpu, Rows, Scalar};

/// Blocks, enough for as many threads.
const BLOCKS: usize = 64;

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
    let mut sums = [T::Wide::default(); BLOCKS];
    let length = x.len().div_ceil(BLOCKS).max(1);
    cpu.pool.run_pieces(&mut sums, 1, 1, |first, sums| {
        for (block, sum) in (first..).zip(sums) {
            let terms = x.len().min(block * length)..x.len().min((block + 1) * length);
            *sum = pairwise(terms, &|i| x[i].wide());
        }
    });
    y[0] = T::narrow(pairwise(0..BLOCKS, &|block| sums[block]));
}
