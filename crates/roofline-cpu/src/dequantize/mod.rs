//! `dequantize`: y = q·s, codes in i8 and a scale for each row (`dequantize.tensor`: for all, `dequantize.block`: for each 32
//! of a row). Products are those of f32.

pub mod plain;

use crate::bind::{lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::quantize::{BLOCK, Shared};
use crate::{Args, Mismatch, Scalar};
pub use plain::dequantize;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("dequantize", lanes!(prepare, Shared::Row)),
    Implementation::plain("dequantize.tensor", lanes!(prepare, Shared::All)),
    Implementation::plain("dequantize.block", lanes!(prepare, Shared::Block)),
];

fn prepare<'a, T: Scalar<Wide = f32>>(mut args: Args<'a>, shared: Shared) -> Result<Launch<'a>, Mismatch> {
    let (q, s, mut y) = (args.take("q")?, args.take("s")?, args.take_out::<T>("y")?);
    let (shape, block) = shared.within(rows(&args)?, BLOCK);
    Ok(Launch::new(move |cpu| dequantize(cpu, &q, &s, &mut y, shape, block)))
}
