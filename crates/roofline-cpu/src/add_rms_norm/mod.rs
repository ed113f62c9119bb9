//! `add-rms-norm`: h = x + r and y = rms-norm(h) · w in one pass.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use plain::add_rms_norm;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("add-rms-norm", floats!(prepare, plain::add_rms_norm)).params(&["eps"]),
    rowwise::vector("add-rms-norm", lanes!(prepare, vector::add_rms_norm)).params(&["eps"]),
    rowwise::parallel("add-rms-norm", lanes!(prepare, vector::add_rms_norm_parallel)).params(&["eps"]),
];

/// x, r, w, then h and y.
type AddRmsNorm<T> = fn(&Cpu, [&[T]; 3], [&mut [T]; 2], Rows, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: AddRmsNorm<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, r, w) = (args.take("x")?, args.take("r")?, args.take("w")?);
    let (mut h, mut y) = (args.take_out("h")?, args.take_out("y")?);
    let (shape, eps) = (rows(&args)?, args.value("eps")?);
    Ok(Launch::new(move |cpu| kernel(cpu, [&x, &r, &w], [&mut h, &mut y], shape, eps)))
}

#[track_caller]
fn check<T>([x, r, w]: [&[T]; 3], [h, y]: [&[T]; 2], shape: Rows) {
    assert!([x.len(), r.len(), h.len(), y.len()] == [shape.len(); 4], "lengths for {shape:?}");
    assert!(w.len() == shape.cols, "length of w for {shape:?}");
}
