//! `quantize-u8`: codes in u8, a scale and a code of zero for each row (`quantize-u8.tensor`: for all), ties to even.

pub mod plain;

use crate::bind::{kernel, rows};
use crate::catalog::{Implementation, Launch};
use crate::quantize::Shared;
use crate::{Args, Mismatch, Scalar};
pub use plain::quantize_u8;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("quantize-u8", &[kernel!(f32, prepare, Shared::Row)]),
    Implementation::plain("quantize-u8.tensor", &[kernel!(f32, prepare, Shared::All)]),
];

fn prepare<'a, T: Scalar<Wide = f32>>(mut args: Args<'a>, shared: Shared) -> Result<Launch<'a>, Mismatch> {
    let (x, mut q) = (args.take::<T>("x")?, args.take_out("q")?);
    let (mut s, mut z) = (args.take_out("s")?, args.take_out("z")?);
    let (shape, _) = shared.within(rows(&args)?, 1);
    Ok(Launch::new(move |cpu| quantize_u8(cpu, &x, &mut q, &mut s, &mut z, shape)))
}
