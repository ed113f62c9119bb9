//! `quantize-fp8`: codes in fp8-e4m3 and a scale s = max|x| / 448 for each row (`quantize-fp8.block`: for each block of it),
//! rounded to nearest even; `quantize-fp8.e5m2`: in the other format, with 57344. bf16 and f16 are divided in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::quantize::{Codes, Shared};
use crate::{Args, Cpu, Datum, Fp8E4m3, Fp8E5m2, Mismatch, Rows, Scalar, rowwise};
pub use parallel::{quantize_fp8, quantize_fp8_e5m2};

/// Codes in fp8-e4m3. The type has no number beyond its largest: what a rounded quotient passes it by would be NaN.
pub const FP8: Codes<Fp8E4m3> =
    Codes { most: Fp8E4m3::MAX, code: |x| Fp8E4m3::from_f32(x.clamp(-Fp8E4m3::MAX, Fp8E4m3::MAX)) };

/// Codes in fp8-e5m2.
pub const FP8_E5M2: Codes<Fp8E5m2> =
    Codes { most: Fp8E5m2::MAX, code: |x| Fp8E5m2::from_f32(x.clamp(-Fp8E5m2::MAX, Fp8E5m2::MAX)) };

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("quantize-fp8", lanes!(prepare, Shared::Row, plain::quantize_fp8)),
    rowwise::vector("quantize-fp8", lanes!(prepare, Shared::Row, vector::quantize_fp8)),
    rowwise::parallel("quantize-fp8", lanes!(prepare, Shared::Row, parallel::quantize_fp8)),
    Implementation::plain("quantize-fp8.block", lanes!(prepare, Shared::Block, plain::quantize_fp8))
        .params(&["block"]),
    rowwise::vector("quantize-fp8.block", lanes!(prepare, Shared::Block, vector::quantize_fp8))
        .params(&["block"]),
    rowwise::parallel("quantize-fp8.block", lanes!(prepare, Shared::Block, parallel::quantize_fp8))
        .params(&["block"]),
    Implementation::plain("quantize-fp8.e5m2", lanes!(prepare, Shared::Row, plain::quantize_fp8_e5m2)),
    rowwise::vector("quantize-fp8.e5m2", lanes!(prepare, Shared::Row, vector::quantize_fp8_e5m2)),
    rowwise::parallel("quantize-fp8.e5m2", lanes!(prepare, Shared::Row, parallel::quantize_fp8_e5m2)),
];

type Quantize<T, Q> = fn(&Cpu, &[T], &mut [Q], &mut [f32], Rows, usize);

fn prepare<'a, T: Scalar<Wide = f32>>(
    args: Args<'a>,
    shared: Shared,
    kernel: Quantize<T, impl Datum>,
) -> Result<Launch<'a>, Mismatch> {
    let mut args = args;
    let (x, mut q, mut s) = (args.take::<T>("x")?, args.take_out("q")?, args.take_out("s")?);
    let (shape, block) = shared.within(rows(&args)?, args.value("block")? as usize);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut q, &mut s, shape, block)))
}
