//! Kernels of common signatures as rows of a ladder: their tensors found by name, once.

use crate::{Args, Cpu, Datum, Launch, Mismatch, Product, Rows};

/// y from x.
pub type Unary<T> = fn(&Cpu, &[T], &mut [T], Rows);
/// z from x and y.
pub type Binary<T> = fn(&Cpu, &[T], &[T], &mut [T], Rows);
/// C from A and B.
pub type Multiply<T, O> = fn(&Cpu, &[T], &[T], &mut [O], Product);

/// y from x.
pub fn unary<'a, T: Datum>(mut args: Args<'a>, kernel: Unary<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y, shape) = (args.take("x")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape)))
}

/// y from x\[outer, length, inner\].
pub type Middle<T> = fn(&Cpu, &[T], &mut [T], [usize; 3]);

/// y from x\[outer, length, inner\].
pub fn middle<'a, T: Datum>(mut args: Args<'a>, kernel: Middle<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    let shape = [args.axis("outer")?, args.axis("length")?, args.axis("inner")?];
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape)))
}

/// y from x and the parameter of this name.
pub fn unary_with<'a, T: Datum>(
    mut args: Args<'a>,
    param: &str,
    kernel: fn(&Cpu, &[T], &mut [T], Rows, f64),
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y, shape) = (args.take("x")?, args.take_out("y")?, rows(&args)?);
    let value = args.value(param)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape, value)))
}

/// z from x and y.
pub fn binary<'a, T: Datum>(mut args: Args<'a>, kernel: Binary<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, y, mut z, shape) = (args.take("x")?, args.take("y")?, args.take_out("z")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &y, &mut z, shape)))
}

/// c from a and b.
pub fn multiply<'a, T: Datum, O: Datum>(
    mut args: Args<'a>,
    kernel: Multiply<T, O>,
) -> Result<Launch<'a>, Mismatch> {
    let (a, b, mut c) = (args.take("a")?, args.take("b")?, args.take_out("c")?);
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    Ok(Launch::new(move |cpu| kernel(cpu, &a, &b, &mut c, shape)))
}

/// The axes rows and cols.
pub fn rows(args: &Args<'_>) -> Result<Rows, Mismatch> {
    Ok(Rows { rows: args.axis("rows")?, cols: args.axis("cols")? })
}

/// Kernels of f32, bf16, f16 and f64 from one generic function: `floats!(unary, plain::exp)`, or with what
/// the binding takes before it, `floats!(unary_with, "scalar", plain::scale)`.
macro_rules! floats {
    ($bind:ident, $($rest:expr),+) => {
        &[
            $crate::bind::kernel!(f32, $bind, $($rest),+),
            $crate::bind::kernel!(half::bf16, $bind, $($rest),+),
            $crate::bind::kernel!(half::f16, $bind, $($rest),+),
            $crate::bind::kernel!(f64, $bind, $($rest),+),
        ]
    };
}

/// The same of the types that lanes have: f32, bf16 and f16.
macro_rules! lanes {
    ($bind:ident, $($rest:expr),+) => {
        &[
            $crate::bind::kernel!(f32, $bind, $($rest),+),
            $crate::bind::kernel!(half::bf16, $bind, $($rest),+),
            $crate::bind::kernel!(half::f16, $bind, $($rest),+),
        ]
    };
}

/// The kernel of one type.
macro_rules! kernel {
    ($type:ty, $bind:ident, $($rest:expr),+) => {
        $crate::catalog::Kernel::new(<$type as $crate::Datum>::NAME, |_, args| $bind::<$type>(args, $($rest),+))
    };
}

pub(crate) use {floats, kernel, lanes};
