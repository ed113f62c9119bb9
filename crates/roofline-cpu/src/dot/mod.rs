//! `dot`: z = Σ x · y. bf16 and f16 are summed in f32.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes};
use crate::catalog::{Implementation, Launch};
use crate::rowwise;
use crate::{Args, Cpu, Datum, Mismatch, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("dot", floats!(prepare, plain::dot)),
    rowwise::vector("dot", lanes!(prepare, vector::dot)),
    rowwise::parallel("dot", lanes!(prepare, vector::dot_parallel)),
];

/// z\[0\] = Σ x · y, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, dot};
///
/// let mut z = [0.0];
/// dot(&Cpu::serial(), &[1.0, 2.0], &[3.0, 4.0], &mut z);
/// assert_eq!(z, [11.0]);
/// ```
pub fn dot<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T]) {
    if !vector::on(&cpu.pool, cpu, x, y, z) {
        plain::dot(cpu, x, y, z);
    }
}

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    kernel: fn(&Cpu, &[T], &[T], &mut [T]),
) -> Result<Launch<'a>, Mismatch> {
    let (x, y, mut z) = (args.take("x")?, args.take("y")?, args.take_out("z")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &y, &mut z)))
}
