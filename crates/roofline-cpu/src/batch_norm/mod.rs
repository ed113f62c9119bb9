//! `batch-norm` with known statistics: y = (x − mean) / √(var + eps) · w + b for each channel.

pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use plain::batch_norm;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("batch-norm", floats!(prepare, plain::batch_norm)).params(&["eps"])];

/// x \[batch, channels, pixels\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Images {
    /// Images.
    pub batch: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Pixels of a channel.
    pub pixels: usize,
}

/// What a channel is normalised by: mean and variance, then scale and shift.
#[derive(Clone, Copy, Debug)]
pub struct Statistics<'a, T> {
    /// Means.
    pub mean: &'a [T],
    /// Variances.
    pub var: &'a [T],
    /// Scales.
    pub w: &'a [T],
    /// Shifts.
    pub b: &'a [T],
}

type BatchNorm<T> = fn(&Cpu, &[T], Statistics<'_, T>, &mut [T], Images, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: BatchNorm<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    let (mean, var) = (args.take("mean")?, args.take("var")?);
    let (w, b) = (args.take("w")?, args.take("b")?);
    let shape =
        Images { batch: args.axis("batch")?, channels: args.axis("channels")?, pixels: args.axis("pixels")? };
    let eps = args.value("eps")?;
    Ok(Launch::new(move |cpu| {
        let statistics = Statistics { mean: &mean, var: &var, w: &w, b: &b };
        kernel(cpu, &x, statistics, &mut y, shape, eps);
    }))
}
