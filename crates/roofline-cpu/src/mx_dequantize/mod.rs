//! `mx-dequantize`: y = q·s, codes in fp8-e4m3 and a power of two for each 32 of a row (`mx-dequantize.fp4`: codes in fp4-e2m1,
//! two in a byte; `mx-dequantize.nvfp4`: y = q·s·t, with scales in fp8-e4m3 for each 16 and one of the tensor's). Products are
//! those of f32.

pub mod plain;

use crate::bind::rows;
use crate::catalog::{Implementation, Kernel, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar, bf16};
pub use plain::{mx_dequantize, mx_dequantize_fp4, nvfp4_dequantize};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain(
        "mx-dequantize",
        &[
            Kernel::new("f32", |_, args| prepare::<_, f32>(args, mx_dequantize)),
            Kernel::new("bf16", |_, args| prepare::<_, bf16>(args, mx_dequantize)),
        ],
    ),
    Implementation::plain(
        "mx-dequantize.fp4",
        &[
            Kernel::new("f32", |_, args| prepare::<_, f32>(args, mx_dequantize_fp4)),
            Kernel::new("bf16", |_, args| prepare::<_, bf16>(args, mx_dequantize_fp4)),
        ],
    ),
    Implementation::plain(
        "mx-dequantize.nvfp4",
        &[
            Kernel::new("f32", |_, args| prepare_nv::<f32>(args)),
            Kernel::new("bf16", |_, args| prepare_nv::<bf16>(args)),
        ],
    ),
];

fn prepare<'a, Q: Datum, T: Scalar>(
    mut args: Args<'a>,
    kernel: fn(&Cpu, &[Q], &[i8], &mut [T], Rows),
) -> Result<Launch<'a>, Mismatch> {
    let (q, s, mut y) = (args.take("q")?, args.take("s")?, args.take_out("y")?);
    let shape = rows(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &q, &s, &mut y, shape)))
}

fn prepare_nv<T: Scalar<Wide = f32>>(mut args: Args<'_>) -> Result<Launch<'_>, Mismatch> {
    let (q, s, t, mut y) = (args.take("q")?, args.take("s")?, args.take("t")?, args.take_out::<T>("y")?);
    let shape = rows(&args)?;
    Ok(Launch::new(move |cpu| nvfp4_dequantize(cpu, &q, &s, &t, &mut y, shape)))
}
