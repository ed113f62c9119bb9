//! `quantize-int4`: codes from -7 to 7, two in a byte, and a scale s = max|x| / 7 for each row (`quantize-int4.block`: for each
//! block of it), ties to even. bf16 and f16 are divided in f32.

pub mod plain;

use crate::bind::{lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::quantize::Shared;
use crate::{Args, Mismatch, Scalar};
pub use plain::quantize_int4;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("quantize-int4", lanes!(prepare, Shared::Row)),
    Implementation::plain("quantize-int4.block", lanes!(prepare, Shared::Block)).params(&["block"]),
];

fn prepare<'a, T: Scalar<Wide = f32>>(mut args: Args<'a>, shared: Shared) -> Result<Launch<'a>, Mismatch> {
    let (x, mut q, mut s) = (args.take::<T>("x")?, args.take_out("q")?, args.take_out("s")?);
    let (shape, block) = shared.within(rows(&args)?, args.value("block")? as usize);
    Ok(Launch::new(move |cpu| quantize_int4(cpu, &x, &mut q, &mut s, shape, block)))
}
