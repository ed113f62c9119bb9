//! The definition, one head of one query after the other.

use super::{Heads, Pages};
use crate::scratch::Scratch;
use crate::{Cpu, Float, Real, Scalar};

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
    let zero = T::Wide::of(0.0);
    let mut mean = Scratch::<T::Wide>::take(dim);
    for (row, y) in y.chunks_mut(dim.max(1)).enumerate().map(|(row, y)| (first + row, y)) {
        let (sequence, head) = (row / heads, row % heads / (heads / kv_heads));
        let q = &q[row * dim..][..dim];
        // A sum of powers and the mean so far, both below the largest product so far.
        let (mut largest, mut sum) = (T::Wide::neg_infinity(), zero);
        mean.fill(zero);
        for key in pages.keys(sequence).map(|key| (key * kv_heads + head) * dim) {
            let products = q.iter().zip(&k[key..][..dim]).map(|(q, k)| q.wide() * k.wide());
            let score = products.sum::<T::Wide>() * scale;
            if score > largest {
                let less = (largest - score).exp();
                sum = sum * less;
                mean.iter_mut().for_each(|mean| *mean = *mean * less);
                largest = score;
            }
            let power = (score - largest).exp();
            sum += power;
            mean.iter_mut().zip(&v[key..][..dim]).for_each(|(mean, v)| *mean += power * v.wide());
        }
        for (y, mean) in y.iter_mut().zip(mean.iter()) {
            *y = T::narrow(if sum > zero { *mean / sum } else { zero });
        }
    }
}
