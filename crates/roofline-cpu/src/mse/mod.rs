//! `mse`: y = the mean of (p − t)²; their sum (`mse.sum`), or each (`mse.none`). bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{Binary, floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::elementwise::{PARALLEL, VECTOR, map_parallel};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("mse", floats!(prepare, plain::mse)),
    rowwise::vector("mse", lanes!(prepare, vector::mse)),
    rowwise::parallel("mse", lanes!(prepare, vector::mse_parallel)),
    Implementation::plain("mse.sum", floats!(prepare, plain::mse_sum)),
    rowwise::vector("mse.sum", lanes!(prepare, vector::mse_sum)),
    rowwise::parallel("mse.sum", lanes!(prepare, vector::mse_sum_parallel)),
    Implementation::plain("mse.none", floats!(prepare, plain::mse_none)),
    Implementation::new("mse.none", "vector", VECTOR, lanes!(prepare, vector::mse_none)).vector(),
    Implementation::new("mse.none", "parallel", PARALLEL, lanes!(prepare, vector::mse_none_parallel))
        .vector()
        .parallel(),
];

/// The mean of (p − t)², by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mse};
///
/// let mut y = [0.0];
/// mse(&Cpu::serial(), &[1.0, 2.0], &[3.0, 2.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [2.0]);
/// ```
pub fn mse<T: Scalar>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    if !vector::sum_on(&cpu.pool, cpu, p, t, y, shape, shape.len()) {
        plain::mse(cpu, p, t, y, shape);
    }
}

/// The sum of (p − t)², likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mse_sum};
///
/// let mut y = [0.0];
/// mse_sum(&Cpu::serial(), &[1.0, 2.0], &[3.0, 2.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [4.0]);
/// ```
pub fn mse_sum<T: Scalar>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    if !vector::sum_on(&cpu.pool, cpu, p, t, y, shape, 1) {
        plain::mse_sum(cpu, p, t, y, shape);
    }
}

/// (p − t)² of each, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mse_none};
///
/// let mut y = [0.0; 2];
/// mse_none(&Cpu::serial(), &[1.0, 2.0], &[3.0, 2.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [4.0, 0.0]);
/// ```
pub fn mse_none<T: Scalar>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    if !map_parallel(cpu, [p, t], y, shape, vector::Square) {
        plain::mse_none(cpu, p, t, y, shape);
    }
}

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Binary<T>) -> Result<Launch<'a>, Mismatch> {
    let (p, t, mut y, shape) = (args.take("p")?, args.take("t")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &p, &t, &mut y, shape)))
}
