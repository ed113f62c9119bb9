//! `fft2`: the discrete Fourier transform along rows and columns, complex numbers as pairs; `fft2.inverse`: the way back,
//! divided by rows · cols; `fft2.real` and `fft2.real-inverse`: of real numbers, and back to them.

pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch};
use crate::fft::Form;
use crate::{Args, Cpu, Datum, Mismatch, Real, Rows};
pub use plain::Plan;

/// The kernels of a form.
macro_rules! transforms {
    ($form:expr) => {
        &[
            Kernel::new("f32", |_, args| prepare::<f32>(args, $form)),
            Kernel::new("f64", |_, args| prepare::<f64>(args, $form)),
        ]
    };
}

const PLAIN: &str =
    "fft's plain rung for each row, and then for each column; the way back to real numbers columns first";

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new("fft2", "plain", PLAIN, transforms!(Form::Forward)),
    Implementation::new("fft2.inverse", "plain", PLAIN, transforms!(Form::Inverse)),
    Implementation::new("fft2.real", "plain", PLAIN, transforms!(Form::Real)),
    Implementation::new("fft2.real-inverse", "plain", PLAIN, transforms!(Form::RealInverse)),
];

/// Transforms each matrix of `x`; a [`Plan`] keeps what hangs on the shape for calls to come.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, fft::Form, fft2};
///
/// let mut y = [0.0; 8];
/// let x = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0];
/// fft2(&Cpu::serial(), &x, &mut y, Rows { rows: 2, cols: 2 }, Form::Forward);
/// assert_eq!(y, [10.0, 0.0, -2.0, 0.0, -4.0, 0.0, 0.0, 0.0]);
/// ```
///
/// # Panics
/// If `x` and `y` do not hold as many whole matrices.
pub fn fft2<T: Real>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, form: Form) {
    Plan::new(shape.rows, shape.cols, form).run(x, y);
}

fn prepare<T: Datum + Real>(mut args: Args<'_>, form: Form) -> Result<Launch<'_>, Mismatch> {
    let (x, mut y) = (args.take::<T>("x")?, args.take_out::<T>("y")?);
    let mut plan = Plan::new(args.axis("rows")?, args.axis("cols")?, form);
    let bytes = plan.bytes();
    Ok(Launch::new(move |_| plan.run(&x, &mut y)).keeping(bytes))
}
