//! One head of one query over keys that come one by one: the softmax is scaled anew where a larger product comes.

use crate::{Float, Real, Scalar};

/// The mean of values weighted by the softmax of `scale` · q · k into `y`, with scratch as long as it; keys and values begin at
/// `firsts`. Zeros where there is none.
pub(crate) fn attend_one<T: Scalar>(
    [q, k, v]: [&[T]; 3],
    firsts: impl Iterator<Item = usize>,
    scale: T::Wide,
    mean: &mut [T::Wide],
    y: &mut [T],
) {
    let (zero, dim) = (T::Wide::of(0.0), q.len());
    // A sum of powers and the mean so far, both below the largest product so far.
    let (mut largest, mut sum, mut is_alone) = (T::Wide::neg_infinity(), zero, true);
    mean.fill(zero);
    for key in firsts {
        is_alone = false;
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
        *y = T::narrow(if is_alone { zero } else { *mean / sum });
    }
}
