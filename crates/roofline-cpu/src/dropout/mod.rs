//! `dropout`: y = x · m / (1 − p), where m is 0 with probability p and else 1.
//!
//! The mask is a function of seed, offset and place alone: element i is kept if word i % 4 of Philox at counter
//! i / 4 is at least p · 2³². `dropout.free` leaves the generator to the kernel; here it is the same one, under a
//! seed of its own for each launch.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, rows};
use crate::catalog::{Implementation, Kernel, Launch};
use crate::elementwise::PARALLEL;
use crate::{Args, Cpu, Datum, Mismatch, Rows};
pub use vector::dropout_parallel as dropout;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("dropout", floats!(prepare, plain::dropout)).params(&["p"]),
    vector("dropout", lanes!(prepare, vector::dropout)),
    parallel("dropout", lanes!(prepare, vector::dropout_parallel)),
    Implementation::plain("dropout.free", floats!(prepare_free, plain::dropout)).params(&["p"]),
    vector("dropout.free", lanes!(prepare_free, vector::dropout)),
    parallel("dropout.free", lanes!(prepare_free, vector::dropout_parallel)),
];

const fn vector(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    let about = "counters in lanes, the factors of a block and then its products";
    Implementation::new(form, "vector", about, kernels).vector().params(&["p"])
}

const fn parallel(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "parallel", PARALLEL, kernels).vector().parallel().params(&["p"])
}

/// x, seed and offset, y.
type Dropout<T> = fn(&Cpu, &[T], [i32; 2], &mut [T], Rows, f64);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Dropout<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, seed, mut y) = (args.take("x")?, args.take::<i32>("seed")?, args.take_out("y")?);
    let (shape, p) = (rows(&args)?, args.value("p")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, [seed[0], seed[1]], &mut y, shape, p)))
}

fn prepare_free<'a, T: Datum>(mut args: Args<'a>, kernel: Dropout<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    let (shape, p) = (rows(&args)?, args.value("p")?);
    let mut launch = 0;
    Ok(Launch::new(move |cpu| {
        launch = i32::wrapping_add(launch, 1);
        kernel(cpu, &x, [launch, 0], &mut y, shape, p);
    }))
}
