//! `layer-norm` over the last axis: y = (x − mean) / √(variance + eps) · w + b; `layer-norm.plain` without w and b.
//!
//! The variance is the mean of (x − mean)², in a pass of its own: the mean of squares less the square of the
//! mean loses every digit where the mean is large.

pub mod plain;

use crate::bind::{floats, rows, unary_with};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::{layer_norm, layer_norm_plain};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("layer-norm", floats!(prepare, plain::layer_norm)).params(&["eps"]),
    Implementation::plain("layer-norm.plain", floats!(unary_with, "eps", plain::layer_norm_plain))
        .params(&["eps"]),
];

/// x, w, b, y.
pub type LayerNorm<T> = fn(&Cpu, &[T], &[T], &[T], &mut [T], Rows, f64);

/// y from x, w and b.
pub(crate) fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    kernel: LayerNorm<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, w, b, mut y) = (args.take("x")?, args.take("w")?, args.take("b")?, args.take_out("y")?);
    let (shape, eps) = (rows(&args)?, args.value("eps")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &w, &b, &mut y, shape, eps)))
}
