//! `batch-norm` with known statistics: y = (x − mean) / √(var + eps) · w + b for each channel.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch};
pub use vector::batch_norm_parallel as batch_norm;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("batch-norm", floats!(prepare, plain::batch_norm)).params(&["eps"]),
    Implementation::new(
        "batch-norm",
        "vector",
        "a channel of an image after the other, a vector at a time",
        lanes!(prepare, vector::batch_norm),
    )
    .vector()
    .params(&["eps"]),
    Implementation::new(
        "batch-norm",
        "parallel",
        "the vector loop on all threads, each on channels of its own",
        lanes!(prepare, vector::batch_norm_parallel),
    )
    .vector()
    .parallel()
    .params(&["eps"]),
];

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

#[track_caller]
fn check<T>(x: &[T], statistics: Statistics<'_, T>, y: &[T], shape: Images) {
    let Images { batch, channels, pixels } = shape;
    let Statistics { mean, var, w, b } = statistics;
    assert!([x.len(), y.len()] == [batch * channels * pixels; 2], "lengths for {shape:?}");
    assert!([mean.len(), var.len(), w.len(), b.len()] == [channels; 4], "channels for {shape:?}");
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
