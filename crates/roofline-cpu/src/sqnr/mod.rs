//! `sqnr`: how far codes are from the values that they stand for, as the ratio of signal to noise of each row in decibels.

pub mod plain;

use crate::bind::{kernel, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Mismatch, Rows, Scalar, bf16};
pub use plain::sqnr;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain(
    "sqnr",
    &[kernel!(f32, prepare, plain::sqnr), kernel!(bf16, prepare, plain::sqnr)],
)];

type Sqnr<T> = fn(&[T], &[i8], &[f32], &mut [f32], Rows);

fn prepare<'a, T: Scalar<Wide = f32>>(mut args: Args<'a>, kernel: Sqnr<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, q, s) = (args.take::<T>("x")?, args.take("q")?, args.take("s")?);
    let (mut y, shape) = (args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |_| kernel(&x, &q, &s, &mut y, shape)))
}
