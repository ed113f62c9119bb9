//! The definition, one head of one query after the other.

use super::{Heads, Rule};
use crate::scratch::Scratch;
use crate::{Cpu, Float, Real, Scalar};
use std::ops::Range;

/// The values of `v` weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given.
///
/// ```
/// use roofline_cpu::{Cpu, attention::{Heads, Rule, plain::attention}};
///
/// // The first query sees the first key alone; the second is as near to both.
/// let (q, k, v) = ([5.0, 1.0], [1.0, 1.0], [3.0, 4.0]);
/// let mut y = [0.0; 2];
/// attention(&Cpu::serial(), [&q, &k, &v], &mut y, Heads::new(2, 1, 1), Rule::Causal, None);
/// assert_eq!(y, [3.0, 3.5]);
/// ```
pub fn attention<T: Scalar>(
    _cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    rule: Rule<'_, T>,
    scale: Option<f64>,
) {
    shape.check(qkv, y, &rule);
    attend(qkv, 0, y, shape, rule, scale);
}

/// The heads of `y`, the first of which is number `first` of all.
pub(super) fn attend<T: Scalar>(
    [q, k, v]: [&[T]; 3],
    first: usize,
    y: &mut [T],
    shape: Heads,
    rule: Rule<'_, T>,
    scale: Option<f64>,
) {
    let dim = shape.dim.max(1);
    let scale = T::Wide::of(scale.unwrap_or_else(|| 1.0 / (dim as f64).sqrt()));
    let mut scores = Scratch::<T::Wide>::take(shape.kv);
    let mut mean = Scratch::<T::Wide>::take(dim);
    let q = q[first * dim..].chunks(dim);
    for (row, (q, y)) in q.zip(y.chunks_mut(dim)).enumerate() {
        let [batch, i, head] = shape.place(first + row);
        let key = |j| shape.key(batch, head, j);
        let seen = seen(shape, &rule, i);
        let scores = &mut scores[..seen.len()];
        for (j, score) in seen.clone().zip(scores.iter_mut()) {
            let product = q.iter().zip(&k[key(j)]).map(|(q, k)| q.wide() * k.wide()).sum::<T::Wide>() * scale;
            *score = match rule {
                Rule::Added(mask) => product + mask[i * shape.kv + j].wide(),
                Rule::SoftCap(cap, _) => (product / T::Wide::of(cap)).tanh() * T::Wide::of(cap),
                Rule::All | Rule::Causal | Rule::Window(_) | Rule::Sinks(..) => product,
            };
        }
        let sink = match rule {
            Rule::Sinks(sinks, _) => sinks[head].wide(),
            _ => T::Wide::neg_infinity(),
        };
        let largest = scores.iter().fold(sink, |largest, score| largest.max(*score));
        if largest == T::Wide::neg_infinity() {
            y.fill(T::narrow(T::Wide::of(0.0)));
            continue;
        }
        let mut sum = (sink - largest).exp();
        mean.fill(T::Wide::of(0.0));
        for (j, score) in seen.zip(scores.iter()) {
            let power = (*score - largest).exp();
            sum += power;
            mean.iter_mut().zip(&v[key(j)]).for_each(|(mean, v)| *mean += power * v.wide());
        }
        y.iter_mut().zip(mean.iter()).for_each(|(y, mean)| *y = T::narrow(*mean / sum));
    }
}

/// The keys that query `i` sees.
pub(super) fn seen<T>(shape: Heads, rule: &Rule<'_, T>, i: usize) -> Range<usize> {
    let causal = 0..i + shape.kv - shape.seq + 1;
    match rule {
        Rule::All | Rule::Added(_) => 0..shape.kv,
        Rule::Causal => causal,
        Rule::Window(window) | Rule::Sinks(_, window) | Rule::SoftCap(_, window) => {
            causal.end.saturating_sub(*window)..causal.end
        }
    }
}
