//! The definition, channel by channel.

use super::{Images, Statistics};
use crate::{Cpu, Float, Real, Scalar};

/// Normalises every channel of every image.
///
/// ```
/// use roofline_cpu::{Cpu, batch_norm::{Images, Statistics, plain::batch_norm}};
///
/// let (mut y, shape) = ([0.0; 2], Images { batch: 1, channels: 1, pixels: 2 });
/// let statistics = Statistics { mean: &[1.0], var: &[4.0], w: &[2.0], b: &[3.0] };
/// batch_norm(&Cpu::serial(), &[1.0, 3.0], statistics, &mut y, shape, 0.0);
/// assert_eq!(y, [3.0, 5.0]);
/// ```
pub fn batch_norm<T: Scalar>(
    _cpu: &Cpu,
    x: &[T],
    statistics: Statistics<'_, T>,
    y: &mut [T],
    shape: Images,
    eps: f64,
) {
    super::check(x, statistics, y, shape);
    let (Images { channels, pixels, .. }, Statistics { mean, var, w, b }) = (shape, statistics);
    let images = x.chunks(pixels.max(1)).zip(y.chunks_mut(pixels.max(1)));
    for (index, (x, y)) in images.enumerate() {
        let c = index % channels;
        let inverse = T::Wide::of(1.0) / (var[c].wide() + T::Wide::of(eps)).sqrt();
        for (x, y) in x.iter().zip(y) {
            *y = T::narrow((x.wide() - mean[c].wide()) * inverse * w[c].wide() + b[c].wide());
        }
    }
}
