//! `layer-norm` over the last axis: y = (x − mean) / √(variance + eps) · w + b; `layer-norm.plain` without w and b.
//!
//! The variance is the mean of (x − mean)², in a pass of its own: the mean of squares less the square of the
//! mean loses every digit where the mean is large.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows, unary_with};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar};
use vector::{Alone, Weighted};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("layer-norm", floats!(prepare, plain::layer_norm)).params(&["eps"]),
    rowwise::vector("layer-norm", lanes!(prepare, vector::layer_norm)).params(&["eps"]),
    rowwise::parallel("layer-norm", lanes!(prepare, vector::layer_norm_parallel)).params(&["eps"]),
    Implementation::plain("layer-norm.plain", floats!(unary_with, "eps", plain::layer_norm_plain))
        .params(&["eps"]),
    rowwise::vector("layer-norm.plain", lanes!(unary_with, "eps", vector::layer_norm_plain)).params(&["eps"]),
    rowwise::parallel("layer-norm.plain", lanes!(unary_with, "eps", vector::layer_norm_plain_parallel))
        .params(&["eps"]),
];

/// y = (x − mean) / √(variance + eps) · w + b for each row of `x`, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm};
///
/// let mut y = [0.0; 2];
/// layer_norm(&Cpu::serial(), &[1.0, 3.0], &[1.0; 2], &[5.0; 2], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [4.0, 6.0]);
/// ```
pub fn layer_norm<T: Scalar>(cpu: &Cpu, x: &[T], w: &[T], b: &[T], y: &mut [T], shape: Rows, eps: f64) {
    assert!([w.len(), b.len()] == [shape.cols; 2], "lengths of w and b for {shape:?}");
    if !rowwise::map(&cpu.pool, cpu, x, y, shape, Weighted { w, b, eps }) {
        plain::layer_norm(cpu, x, w, b, y, shape, eps);
    }
}

/// y = (x − mean) / √(variance + eps) for each row of `x`, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm_plain};
///
/// let mut y = [0.0; 2];
/// layer_norm_plain(&Cpu::serial(), &[1.0, 3.0], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [-1.0, 1.0]);
/// ```
pub fn layer_norm_plain<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, eps: f64) {
    if !rowwise::map(&cpu.pool, cpu, x, y, shape, Alone { eps }) {
        plain::layer_norm_plain(cpu, x, y, shape, eps);
    }
}

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
