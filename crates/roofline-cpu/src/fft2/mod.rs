//! `fft2`: the discrete Fourier transform along rows and columns, complex numbers as pairs; `fft2.inverse`: the way back,
//! divided by rows · cols.

pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch};
use crate::fft::Form;
use crate::{Args, Datum, Mismatch, Real};
pub use plain::Plan;

const PLAIN: &str = "fft's plain rung for each row, and then for each column";

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new(
        "fft2",
        "plain",
        PLAIN,
        &[
            Kernel::new("f32", |_, args| prepare::<f32>(args, Form::Forward)),
            Kernel::new("f64", |_, args| prepare::<f64>(args, Form::Forward)),
        ],
    ),
    Implementation::new(
        "fft2.inverse",
        "plain",
        PLAIN,
        &[
            Kernel::new("f32", |_, args| prepare::<f32>(args, Form::Inverse)),
            Kernel::new("f64", |_, args| prepare::<f64>(args, Form::Inverse)),
        ],
    ),
];

fn prepare<T: Datum + Real>(mut args: Args<'_>, form: Form) -> Result<Launch<'_>, Mismatch> {
    let (x, mut y) = (args.take::<T>("x")?, args.take_out::<T>("y")?);
    let mut plan = Plan::new(args.axis("rows")?, args.axis("cols")?, form);
    let bytes = plan.bytes();
    Ok(Launch::new(move |_| plan.run(&x, &mut y)).keeping(bytes))
}
