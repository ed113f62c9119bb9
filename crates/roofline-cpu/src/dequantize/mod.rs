//! `dequantize`: y = q·s, codes in i8 and a scale for each row (`dequantize.tensor`: for all, `dequantize.block`: for each block
//! of a row); `dequantize.fp8`: codes in fp8-e4m3; `dequantize.u8`: y = (q − z)·s. Products are those of f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::quantize::Shared;
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar, rowwise};
pub use parallel::{dequantize, dequantize_fp8, dequantize_u8};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("dequantize", lanes!(prepare, Shared::Row, plain::dequantize)),
    rowwise::vector("dequantize", lanes!(prepare, Shared::Row, vector::dequantize)),
    rowwise::parallel("dequantize", lanes!(prepare, Shared::Row, parallel::dequantize)),
    Implementation::plain("dequantize.tensor", lanes!(prepare, Shared::All, plain::dequantize)),
    rowwise::vector("dequantize.tensor", lanes!(prepare, Shared::All, vector::dequantize)),
    rowwise::parallel("dequantize.tensor", lanes!(prepare, Shared::All, parallel::dequantize)),
    Implementation::plain("dequantize.block", lanes!(prepare, Shared::Block, plain::dequantize))
        .params(&["block"]),
    rowwise::vector("dequantize.block", lanes!(prepare, Shared::Block, vector::dequantize))
        .params(&["block"]),
    rowwise::parallel("dequantize.block", lanes!(prepare, Shared::Block, parallel::dequantize))
        .params(&["block"]),
    Implementation::plain("dequantize.fp8", lanes!(prepare, Shared::Row, plain::dequantize_fp8)),
    rowwise::vector("dequantize.fp8", lanes!(prepare, Shared::Row, vector::dequantize_fp8)),
    rowwise::parallel("dequantize.fp8", lanes!(prepare, Shared::Row, parallel::dequantize_fp8)),
    Implementation::plain("dequantize.u8", lanes!(prepare_u8, plain::dequantize_u8)),
    rowwise::vector("dequantize.u8", lanes!(prepare_u8, vector::dequantize_u8)),
    rowwise::parallel("dequantize.u8", lanes!(prepare_u8, parallel::dequantize_u8)),
];

type Dequantize<Q, T> = fn(&Cpu, &[Q], &[f32], &mut [T], Rows, usize);

fn prepare<'a, T: Scalar<Wide = f32>>(
    args: Args<'a>,
    shared: Shared,
    kernel: Dequantize<impl Datum, T>,
) -> Result<Launch<'a>, Mismatch> {
    let mut args = args;
    let (q, s, mut y) = (args.take("q")?, args.take("s")?, args.take_out("y")?);
    let (shape, block) = shared.within(rows(&args)?, args.value("block")? as usize);
    Ok(Launch::new(move |cpu| kernel(cpu, &q, &s, &mut y, shape, block)))
}

type DequantizeU8<T> = fn(&Cpu, &[u8], &[f32], &[u8], &mut [T], Rows);

fn prepare_u8<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    kernel: DequantizeU8<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (q, s, z, mut y) = (args.take("q")?, args.take("s")?, args.take("z")?, args.take_out("y")?);
    let shape = rows(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &q, &s, &z, &mut y, shape)))
}
