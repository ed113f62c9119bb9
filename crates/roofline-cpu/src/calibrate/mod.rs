//! `calibrate`: the scale that a tensor is quantised with, by its largest magnitude (`calibrate.percentile`: by one that few are
//! above, `calibrate.mse`: by what codes leave).

pub mod plain;

use crate::bind::lanes;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Mismatch, Scalar};
pub use plain::{calibrate, calibrate_mse, calibrate_percentile};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("calibrate", lanes!(prepare, |x, _| plain::calibrate(x))),
    Implementation::plain("calibrate.percentile", lanes!(prepare, plain::calibrate_percentile))
        .params(&["percentile"]),
    Implementation::plain("calibrate.mse", lanes!(prepare, |x, _| plain::calibrate_mse(x))),
];

/// The scale of x, by a percentile.
type Calibrate<T> = fn(&[T], f64) -> f32;

fn prepare<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    kernel: Calibrate<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut s) = (args.take::<T>("x")?, args.take_out("s")?);
    let percentile = args.value("percentile")?;
    Ok(Launch::new(move |_| s[0] = kernel(&x, percentile)))
}
