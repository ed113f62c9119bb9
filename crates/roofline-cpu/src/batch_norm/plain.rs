//! The definition, channel by channel.

use super::{Images, Statistics};
use crate::{Cpu, Float, Real, Scalar};

/// Normalises every channel of every image.
///
/// ```
/// use roofline_cpu::{Cpu, batch_norm, batch_norm::{Images, Statistics}};
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
    let Images { batch, channels, pixels } = shape;
    let Statistics { mean, var, w, b } = statistics;
    assert!([x.len(), y.len()] == [batch * channels * pixels; 2], "lengths for {shape:?}");
    assert!([mean.len(), var.len(), w.len(), b.len()] == [channels; 4], "channels for {shape:?}");
    let images = x.chunks(pixels.max(1)).zip(y.chunks_mut(pixels.max(1)));
    for (index, (x, y)) in images.enumerate() {
        let c = index % channels;
        let inverse = T::Wide::of(1.0) / (var[c].wide() + T::Wide::of(eps)).sqrt();
        for (x, y) in x.iter().zip(y) {
            *y = T::narrow((x.wide() - mean[c].wide()) * inverse * w[c].wide() + b[c].wide());
        }
    }
}
