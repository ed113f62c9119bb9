//! `fft`: the discrete Fourier transform of each line of a batch, complex numbers as pairs of real and imaginary part;
//! `fft.inverse`: the way back, with 1/n; `fft.real` and `fft.real-inverse`: of real numbers, and back to them.
//!
//! The twiddle factors hang on the length alone, so they are part of getting ready.

pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Real};
pub use plain::Plan;

/// The kernels of one form, for both types.
macro_rules! transforms {
    ($form:expr) => {
        &[
            Kernel::new("f32", |_, args| prepare::<f32>(args, $form)),
            Kernel::new("f64", |_, args| prepare::<f64>(args, $form)),
        ]
    };
}

const PLAIN: &str =
    "pairs of halves for powers of two, else parts by prime factors, each summed as it is defined";

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new("fft", "plain", PLAIN, transforms!(Form::Forward)),
    Implementation::new("fft.inverse", "plain", PLAIN, transforms!(Form::Inverse)),
    Implementation::new("fft.real", "plain", PLAIN, transforms!(Form::Real)),
    Implementation::new("fft.real-inverse", "plain", PLAIN, transforms!(Form::RealInverse)),
];

/// What is transformed to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// n complex numbers to as many.
    Forward,
    /// The way back, divided by n.
    Inverse,
    /// n real numbers to the first n/2 + 1 complex ones, of which the others are the mirror image.
    Real,
    /// The way back; imaginary parts that a real result cannot have do not count.
    RealInverse,
}

impl Form {
    /// Elements of one line of n numbers, before and after.
    pub fn lengths(self, n: usize) -> [usize; 2] {
        let (all, half) = (2 * n, 2 * (n / 2 + 1));
        match self {
            Form::Forward | Form::Inverse => [all, all],
            Form::Real => [n, half],
            Form::RealInverse => [half, n],
        }
    }

    fn is_inverse(self) -> bool {
        matches!(self, Form::Inverse | Form::RealInverse)
    }
}

/// Transforms each line of n numbers of `x`; a [`Plan`] keeps what hangs on the length for calls to come.
///
/// ```
/// use roofline_cpu::{Cpu, fft, fft::Form};
///
/// let mut y = [0.0; 6];
/// fft(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, 4, Form::Real);
/// assert_eq!(y, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
/// ```
///
/// # Panics
/// If `x` and `y` do not hold as many whole lines.
pub fn fft<T: Real>(_cpu: &Cpu, x: &[T], y: &mut [T], n: usize, form: Form) {
    Plan::new(n, form).run(x, y);
}

fn prepare<T: Datum + Real>(mut args: Args<'_>, form: Form) -> Result<Launch<'_>, Mismatch> {
    let (x, mut y) = (args.take::<T>("x")?, args.take_out::<T>("y")?);
    let mut plan = Plan::new(args.axis("n")?, form);
    let bytes = plan.bytes();
    Ok(Launch::new(move |_| plan.run(&x, &mut y)).keeping(bytes))
}
