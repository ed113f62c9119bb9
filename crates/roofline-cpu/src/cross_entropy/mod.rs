//! `cross-entropy`: logsumexp(x) − x\[t\] of each row, their mean over the rows that count (`cross-entropy.none`:
//! each, 0 for rows that do not). bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar};

/// A target that stands for none: its row does not count.
pub const IGNORED: i32 = -100;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("cross-entropy", floats!(prepare, plain::cross_entropy)),
    rowwise::vector("cross-entropy", lanes!(prepare, vector::cross_entropy)),
    rowwise::parallel("cross-entropy", lanes!(prepare, vector::cross_entropy_parallel)),
    Implementation::plain("cross-entropy.none", floats!(prepare, plain::cross_entropy_none)),
    rowwise::vector("cross-entropy.none", lanes!(prepare, vector::cross_entropy_none)),
    rowwise::parallel("cross-entropy.none", lanes!(prepare, vector::cross_entropy_none_parallel)),
];

/// The mean loss of the rows whose target is not [`IGNORED`], by the rung that suits the type and the threads; NaN where
/// there is none.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cross_entropy};
///
/// let mut y = [0.0];
/// cross_entropy(&Cpu::serial(), &[0.0, 0.0, 9.0, 5.0], &[1, -100], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2f64.ln()]);
/// ```
pub fn cross_entropy<T: Scalar>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    if !vector::mean_on(&cpu.pool, cpu, x, t, y, shape) {
        plain::cross_entropy(cpu, x, t, y, shape);
    }
}

/// The loss of each row, likewise; 0 where its target is [`IGNORED`].
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cross_entropy_none};
///
/// let mut y = [1.0; 2];
/// cross_entropy_none(&Cpu::serial(), &[0.0, 0.0, 9.0, 5.0], &[1, -100], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2f64.ln(), 0.0]);
/// ```
pub fn cross_entropy_none<T: Scalar>(cpu: &Cpu, x: &[T], t: &[i32], y: &mut [T], shape: Rows) {
    if !vector::each_on(&cpu.pool, cpu, x, t, y, shape) {
        plain::cross_entropy_none(cpu, x, t, y, shape);
    }
}

type CrossEntropy<T> = fn(&Cpu, &[T], &[i32], &mut [T], Rows);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: CrossEntropy<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, t, mut y, shape) = (args.take("x")?, args.take("t")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &t, &mut y, shape)))
}
