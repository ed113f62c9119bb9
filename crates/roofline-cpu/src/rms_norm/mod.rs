//! `rms-norm` over the last axis: y = x / sqrt(mean(x²) + eps) · w.
//!
//! Two reads of a row, the second from a near cache, and one write; two
//! multiply-adds' worth of work each. Infinity in a row makes its finite
//! elements 0 and the infinite ones NaN; NaN makes the whole row NaN.

pub mod gemma;
pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::scalar::InLanes;
use crate::{Args, Cpu, Datum, Element, Mismatch, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new(
        "rms-norm",
        "plain",
        "the definition, row by row, in f64",
        floats!(normalize, plain::rms_norm),
    )
    .params(&["eps"]),
    Implementation::new(
        "rms-norm",
        "vector",
        "two passes in lanes, the second from a near cache",
        lanes!(normalize, vector::rms_norm),
    )
    .params(&["eps"])
    .vector(),
    Implementation::new(
        "rms-norm",
        "parallel",
        "the vector kernel on whole rows, all threads",
        lanes!(normalize, parallel::rms_norm),
    )
    .params(&["eps"])
    .vector()
    .parallel(),
    Implementation::plain("rms-norm.gemma", floats!(normalize, gemma::plain)).params(&["eps"]),
    rowwise::vector("rms-norm.gemma", lanes!(normalize, gemma::vector)).params(&["eps"]),
    rowwise::parallel("rms-norm.gemma", lanes!(normalize, gemma::parallel)).params(&["eps"]),
];

/// RMS norm of each row of `x`, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, rms_norm};
///
/// let mut y = [0.0f32; 2];
/// rms_norm(&Cpu::serial(), &[3.0, -3.0], &[1.0, 2.0], &mut y, Rows { rows: 1, cols: 2 }, 1e-6);
/// assert!((y[0] - 1.0).abs() < 1e-6 && (y[1] + 2.0).abs() < 1e-6);
/// ```
pub fn rms_norm<T: Scalar>(cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    if !T::in_lanes(InRows { cpu, x, w, y, shape, eps, more: 0.0 }) {
        plain::rms_norm(cpu, x, w, y, shape, eps);
    }
}

/// RMS norm with weights 1 + w, as Gemma has it, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, rms_norm_gemma};
///
/// let mut y = [0.0; 2];
/// rms_norm_gemma(&Cpu::serial(), &[3.0, -3.0], &[0.0, 1.0], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [1.0, -2.0]);
/// ```
pub fn rms_norm_gemma<T: Scalar>(cpu: &Cpu, x: &[T], w: &[T], y: &mut [T], shape: Rows, eps: f64) {
    if !T::in_lanes(InRows { cpu, x, w, y, shape, eps, more: 1.0 }) {
        gemma::plain(cpu, x, w, y, shape, eps);
    }
}

/// A call for types that have lanes.
struct InRows<'a, T> {
    cpu: &'a Cpu,
    x: &'a [T],
    w: &'a [T],
    y: &'a mut [T],
    shape: Rows,
    eps: f64,
    /// What weights are more than `w`.
    more: f32,
}

impl<T> InLanes<T> for InRows<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let InRows { cpu, x, w, y, shape, eps, more } = self;
        parallel::on_threads(cpu, x, w, y, shape, eps, more);
    }
}

/// x, w, y.
pub(crate) type RmsNorm<T> = fn(&Cpu, &[T], &[T], &mut [T], Rows, f64);

fn normalize<'a, T: Datum>(mut args: Args<'a>, kernel: RmsNorm<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, w, mut y) = (args.take("x")?, args.take("w")?, args.take_out("y")?);
    let (shape, eps) = (rows(&args)?, args.value("eps")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &w, &mut y, shape, eps)))
}

#[track_caller]
fn check(x: usize, w: usize, y: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(w, shape.cols, "length of w for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
}
