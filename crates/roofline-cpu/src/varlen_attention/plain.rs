//! The definition, one head of one query after the other.

use super::{Heads, Sequences};
use crate::attention::online::attend_one;
use crate::scratch::Scratch;
use crate::{Cpu, Real, Scalar};

/// The values of each sequence weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given.
///
/// ```
/// use roofline_cpu::Cpu;
/// use roofline_cpu::paged_attention::Heads;
/// use roofline_cpu::varlen_attention::{Sequences, plain::varlen_attention};
///
/// // Sequences of two tokens and of one, whose keys are all alike.
/// let (q, k, v) = ([1.0; 3], [0.0; 3], [3.0, 5.0, 7.0]);
/// let mut y = [0.0; 3];
/// let shape = Heads { heads: 1, kv_heads: 1, dim: 1 };
/// let sequences = Sequences { offsets: &[0, 2, 3], causal: true };
/// varlen_attention(&Cpu::serial(), [&q, &k, &v], &mut y, shape, sequences, None);
/// assert_eq!(y, [3.0, 4.0, 7.0]);
/// ```
pub fn varlen_attention<T: Scalar>(
    _cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    sequences: Sequences<'_>,
    scale: Option<f64>,
) {
    check(qkv, y, shape);
    attend(qkv, 0, y, shape, sequences, scale);
}

#[track_caller]
pub(super) fn check<T>([q, k, v]: [&[T]; 3], y: &[T], shape: Heads) {
    let Heads { heads, kv_heads, .. } = shape;
    let is_grouped = kv_heads > 0 && heads.is_multiple_of(kv_heads);
    let lengths = q.len() == y.len() && v.len() == k.len() && q.len() * kv_heads == k.len() * heads;
    assert!(is_grouped && lengths, "lengths for {shape:?}");
}

/// The heads of `y`, the first of which is number `first` of all.
pub(super) fn attend<T: Scalar>(
    [q, k, v]: [&[T]; 3],
    first: usize,
    y: &mut [T],
    shape: Heads,
    sequences: Sequences<'_>,
    scale: Option<f64>,
) {
    let Heads { heads, kv_heads, dim } = shape;
    let scale = T::Wide::of(scale.unwrap_or_else(|| 1.0 / (dim as f64).sqrt()));
    let mut mean = Scratch::<T::Wide>::take(dim);
    for (row, y) in y.chunks_mut(dim.max(1)).enumerate().map(|(row, y)| (first + row, y)) {
        let (token, head) = (row / heads, row % heads / (heads / kv_heads));
        let keys = sequences.seen(token).map(|key| (key * kv_heads + head) * dim);
        attend_one([&q[row * dim..][..dim], k, v], keys, scale, &mut mean, y);
    }
}
