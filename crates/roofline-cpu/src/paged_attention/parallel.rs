//! The definition on all threads, whole heads of queries each.

use super::plain::{attend, check};
use super::{Heads, Pages};
use crate::{Cpu, Scalar};

/// The values of each sequence weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given. A sequence
/// without keys has zeros.
///
/// ```
/// use roofline_cpu::paged_attention::{Heads, Pages};
/// use roofline_cpu::{Cpu, paged_attention};
///
/// let pages = Pages { page: 2, pages: &[1, 0], offsets: &[0, 0, 2], last: &[0, 1] };
/// let (q, k, v) = ([1.0f32; 2], [0.0; 4], [1.0, 2.0, 3.0, 4.0]);
/// let mut y = [9.0; 2];
/// let shape = Heads { heads: 1, kv_heads: 1, dim: 1 };
/// paged_attention(&Cpu::new(2), [&q, &k, &v], &mut y, shape, pages, None);
/// assert_eq!(y, [0.0, 2.5]);
/// ```
pub fn paged_attention<T: Scalar>(
    cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    pages: Pages<'_>,
    scale: Option<f64>,
) {
    check(qkv, y, shape, pages);
    let dim = shape.dim.max(1);
    cpu.pool.run_pieces(y, dim, 1, |offset, y| attend(qkv, offset / dim, y, shape, pages, scale));
}
