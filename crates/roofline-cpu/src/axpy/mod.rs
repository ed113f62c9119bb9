//! `axpy`: z = a · x + y, element by element. bf16 and f16 are computed in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::elementwise::{PARALLEL, VECTOR};
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use parallel::{axpy, axpy_in_place};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("axpy", floats!(prepare, plain::axpy)).params(&["a"]),
    Implementation::new("axpy", "vector", VECTOR, lanes!(prepare, vector::axpy)).vector().params(&["a"]),
    Implementation::new("axpy", "parallel", PARALLEL, lanes!(prepare, parallel::axpy))
        .vector()
        .parallel()
        .params(&["a"]),
    Implementation::plain("axpy.in-place", floats!(prepare_in_place, plain::axpy_in_place)).params(&["a"]),
    Implementation::new(
        "axpy.in-place",
        "vector",
        "one vector at a time",
        lanes!(prepare_in_place, vector::axpy_in_place),
    )
    .vector()
    .params(&["a"]),
    Implementation::new(
        "axpy.in-place",
        "parallel",
        PARALLEL,
        lanes!(prepare_in_place, parallel::axpy_in_place),
    )
    .vector()
    .parallel()
    .params(&["a"]),
];

type Axpy<T> = fn(&Cpu, &[T], &[T], &mut [T], Rows, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Axpy<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, y, mut z) = (args.take("x")?, args.take("y")?, args.take_out("z")?);
    let (shape, a) = (rows(&args)?, args.value("a")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &y, &mut z, shape, a)))
}

fn prepare_in_place<'a, T: Datum>(
    mut args: Args<'a>,
    kernel: fn(&Cpu, &[T], &mut [T], Rows, f64),
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut z) = (args.take("x")?, args.take_out("z")?);
    let (shape, a) = (rows(&args)?, args.value("a")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut z, shape, a)))
}
