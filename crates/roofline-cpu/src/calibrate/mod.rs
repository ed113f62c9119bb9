//! `calibrate`: the scale that a tensor is quantised with, by its largest magnitude (`calibrate.percentile`: by one that few are
//! above, `calibrate.mse`: by what codes leave, `calibrate.entropy`: by what levels lose of its histogram, `calibrate.average`: by what the
//! rows before had).

pub mod entropy;
pub mod plain;

use crate::bind::lanes;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Mismatch, Scalar};
pub use entropy::calibrate_entropy;
pub use plain::{calibrate, calibrate_average, calibrate_mse, calibrate_percentile};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("calibrate", lanes!(prepare, |x, _| plain::calibrate(x))),
    Implementation::plain(
        "calibrate.percentile",
        lanes!(prepare, |x, how| plain::calibrate_percentile(x, how.percentile)),
    )
    .params(&["percentile"]),
    Implementation::plain("calibrate.mse", lanes!(prepare, |x, _| plain::calibrate_mse(x))),
    Implementation::plain("calibrate.entropy", lanes!(prepare, |x, _| entropy::calibrate_entropy(x))),
    Implementation::plain(
        "calibrate.average",
        lanes!(prepare, |x, how| plain::calibrate_average(x, how.cols, how.averaging)),
    )
    .params(&["averaging"]),
];

/// What forms ask for beside x.
#[derive(Clone, Copy)]
struct How {
    cols: usize,
    percentile: f64,
    averaging: f64,
}

/// The scale of x.
type Calibrate<T> = fn(&[T], How) -> f32;

fn prepare<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    kernel: Calibrate<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut s) = (args.take::<T>("x")?, args.take_out("s")?);
    let [percentile, averaging] = [args.value("percentile")?, args.value("averaging")?];
    let how = How { cols: args.axis("cols")?, percentile, averaging };
    Ok(Launch::new(move |_| s[0] = kernel(&x, how)))
}
