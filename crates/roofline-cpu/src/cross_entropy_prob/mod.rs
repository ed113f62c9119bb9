//! `cross-entropy-prob`: y = −Σ t · ln(max(p, 10⁻⁸)), for probabilities. bf16 and f16 are computed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{Binary, floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("cross-entropy-prob", floats!(prepare, plain::cross_entropy_prob)),
    rowwise::vector("cross-entropy-prob", lanes!(prepare, vector::cross_entropy_prob)),
    rowwise::parallel("cross-entropy-prob", lanes!(prepare, vector::cross_entropy_prob_parallel)),
];

/// −Σ t · ln(max(p, 10⁻⁸)) over everything, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cross_entropy_prob};
///
/// let mut y = [0.0];
/// cross_entropy_prob(&Cpu::serial(), &[0.5, 1.0], &[1.0, 1.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [2f64.ln()]);
/// ```
pub fn cross_entropy_prob<T: Scalar>(cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    if !vector::on(&cpu.pool, cpu, p, t, y, shape) {
        plain::cross_entropy_prob(cpu, p, t, y, shape);
    }
}

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Binary<T>) -> Result<Launch<'a>, Mismatch> {
    let (p, t, mut y, shape) = (args.take("p")?, args.take("t")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &p, &t, &mut y, shape)))
}
