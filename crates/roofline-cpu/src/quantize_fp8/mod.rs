//! `quantize-fp8`: codes in fp8-e4m3 and a scale s = max|x| / 448 for each row (`quantize-fp8.block`: for each 128 of it),
//! rounded to nearest even. bf16 and f16 are divided in f32.

pub mod plain;

use crate::bind::{lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::quantize::{Codes, Shared};
use crate::{Args, Fp8E4m3, Mismatch, Scalar};
pub use plain::quantize_fp8;

/// Codes that share a scale in the form of blocks.
pub const BLOCK: usize = 128;

/// Codes in fp8-e4m3. The type has no number beyond its largest: what a rounded quotient passes it by would be NaN.
pub const FP8: Codes<Fp8E4m3> =
    Codes { most: Fp8E4m3::MAX, code: |x| Fp8E4m3::from_f32(x.clamp(-Fp8E4m3::MAX, Fp8E4m3::MAX)) };

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("quantize-fp8", lanes!(prepare, Shared::Row)),
    Implementation::plain("quantize-fp8.block", lanes!(prepare, Shared::Block)),
];

fn prepare<'a, T: Scalar<Wide = f32>>(mut args: Args<'a>, shared: Shared) -> Result<Launch<'a>, Mismatch> {
    let (x, mut q, mut s) = (args.take::<T>("x")?, args.take_out("q")?, args.take_out("s")?);
    let (shape, block) = shared.within(rows(&args)?, BLOCK);
    Ok(Launch::new(move |cpu| quantize_fp8(cpu, &x, &mut q, &mut s, shape, block)))
}
