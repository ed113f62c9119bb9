//! `add-rms-norm`: h = x + r and y = rms-norm(h) · w in one pass.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("add-rms-norm", floats!(prepare, plain::add_rms_norm)).params(&["eps"]),
    rowwise::vector("add-rms-norm", lanes!(prepare, vector::add_rms_norm)).params(&["eps"]),
    rowwise::parallel("add-rms-norm", lanes!(prepare, vector::add_rms_norm_parallel)).params(&["eps"]),
];

/// h = x + r and y = h / √(mean(h²) + eps) · w for each row, by the rung that suits the type and the threads; inputs x, r
/// and w, outputs h and y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add_rms_norm};
///
/// let (mut h, mut y) = ([0.0; 2], [0.0; 2]);
/// let shape = Rows { rows: 1, cols: 2 };
/// add_rms_norm(&Cpu::serial(), [&[1.0, -2.0], &[2.0, -1.0], &[1.0, 2.0]], [&mut h, &mut y], shape, 0.0);
/// assert_eq!((h, y), ([3.0, -3.0], [1.0, -2.0]));
/// ```
pub fn add_rms_norm<T: Scalar>(cpu: &Cpu, inputs: [&[T]; 3], [h, y]: [&mut [T]; 2], shape: Rows, eps: f64) {
    if !vector::on(&cpu.pool, cpu, inputs, [&mut *h, &mut *y], shape, eps) {
        plain::add_rms_norm(cpu, inputs, [h, y], shape, eps);
    }
}

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
