//! The definition, one head of one query after the other.

use super::{Heads, Pages};
use crate::attention::online::attend_one;
use crate::scratch::Scratch;
use crate::{Cpu, Real, Scalar};

/// The values of each sequence weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given. A sequence
/// without keys has zeros.
///
/// ```
/// use roofline_cpu::paged_attention::{Heads, Pages, plain::paged_attention};
/// use roofline_cpu::Cpu;
///
/// // Two sequences: three keys in the pages 2 and 0, one in page 1. All keys are alike.
/// let pages = Pages { page: 2, pages: &[2, 0, 1], offsets: &[0, 2, 3], last: &[0, 0] };
/// let (q, k, v) = ([1.0; 2], [0.0; 6], [3.0, 9.0, 7.0, 9.0, 4.0, 5.0]);
/// let mut y = [0.0; 2];
/// let shape = Heads { heads: 1, kv_heads: 1, dim: 1 };
/// paged_attention(&Cpu::serial(), [&q, &k, &v], &mut y, shape, pages, None);
/// assert_eq!(y, [4.0, 7.0]);
/// ```
pub fn paged_attention<T: Scalar>(
    _cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    pages: Pages<'_>,
    scale: Option<f64>,
) {
    check(qkv, y, shape, pages);
    attend(qkv, 0, y, shape, pages, scale);
}

#[track_caller]
pub(super) fn check<T>([q, k, v]: [&[T]; 3], y: &[T], shape: Heads, pages: Pages<'_>) {
    let Heads { heads, kv_heads, dim } = shape;
    let (queries, key) = (pages.last.len() * heads * dim, pages.page * kv_heads * dim);
    let is_grouped = kv_heads > 0 && heads.is_multiple_of(kv_heads);
    let is_whole = key == 0 || k.len().is_multiple_of(key);
    let lengths = [q.len(), y.len(), v.len()] == [queries, queries, k.len()];
    assert!(is_grouped && is_whole && lengths, "lengths for {shape:?}");
    assert_eq!(pages.offsets.len(), pages.last.len() + 1, "offsets of {} sequences", pages.last.len());
}

/// The heads of `y`, the first of which is number `first` of all.
pub(super) fn attend<T: Scalar>(
    [q, k, v]: [&[T]; 3],
    first: usize,
    y: &mut [T],
    shape: Heads,
    pages: Pages<'_>,
    scale: Option<f64>,
) {
    let Heads { heads, kv_heads, dim } = shape;
    let scale = T::Wide::of(scale.unwrap_or_else(|| 1.0 / (dim as f64).sqrt()));
    let mut mean = Scratch::<T::Wide>::take(dim);
    for (row, y) in y.chunks_mut(dim.max(1)).enumerate().map(|(row, y)| (first + row, y)) {
        let (sequence, head) = (row / heads, row % heads / (heads / kv_heads));
        let keys = pages.keys(sequence).map(|key| (key * kv_heads + head) * dim);
        attend_one([&q[row * dim..][..dim], k, v], keys, scale, &mut mean, y);
    }
}
