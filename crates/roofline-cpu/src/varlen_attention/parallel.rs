//! The definition on all threads, whole heads of queries each.

use super::plain::{attend, check};
use super::{Heads, Sequences};
use crate::{Cpu, Scalar};

/// The values of each sequence weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given.
///
/// ```
/// use roofline_cpu::paged_attention::Heads;
/// use roofline_cpu::{Cpu, varlen_attention, varlen_attention::Sequences};
///
/// let (q, k, v) = ([1.0f32; 3], [0.0; 3], [3.0, 5.0, 7.0]);
/// let mut y = [0.0; 3];
/// let shape = Heads { heads: 1, kv_heads: 1, dim: 1 };
/// let sequences = Sequences { offsets: &[0, 2, 2, 3], causal: false };
/// varlen_attention(&Cpu::new(2), [&q, &k, &v], &mut y, shape, sequences, None);
/// assert_eq!(y, [4.0, 4.0, 7.0]);
/// ```
pub fn varlen_attention<T: Scalar>(
    cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    sequences: Sequences<'_>,
    scale: Option<f64>,
) {
    check(qkv, y, shape);
    let dim = shape.dim.max(1);
    cpu.pool.run_pieces(y, dim, 1, |offset, y| attend(qkv, offset / dim, y, shape, sequences, scale));
}
