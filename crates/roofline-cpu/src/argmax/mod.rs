//! `argmax`: y = the place of a largest element of each row; of a NaN where there is one. `argmax-axis`: over the
//! middle one of three dimensions, as columns of one matrix after the other.

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Rows, Scalar};
pub use plain::{argmax, argmax_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("argmax", floats!(prepare, plain::argmax)),
    Implementation::plain("argmax-axis", floats!(prepare_middle, plain::argmax_columns)),
];

/// The place of the first largest element along the middle dimension of x\[outer, length, inner\].
///
/// ```
/// use roofline_cpu::{Cpu, argmax_axis};
///
/// let mut y = [0; 2];
/// argmax_axis(&Cpu::serial(), &[1.0, 2.0, 7.0, 1.0], &mut y, [2, 2, 1]);
/// assert_eq!(y, [1, 0]);
/// ```
pub fn argmax_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [i32], shape: [usize; 3]) {
    each_matrix(cpu, x, y, shape, plain::argmax_columns);
}

type Argmax<T> = fn(&Cpu, &[T], &mut [i32], Rows);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Argmax<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y, shape) = (args.take("x")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut y, shape)))
}

fn prepare_middle<'a, T: Datum>(mut args: Args<'a>, kernel: Argmax<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out::<i32>("y")?);
    let shape = [args.axis("outer")?, args.axis("length")?, args.axis("inner")?];
    Ok(Launch::new(move |cpu| each_matrix(cpu, &x, &mut y, shape, kernel)))
}

/// The columns of one matrix \[length, inner\] after the other.
#[track_caller]
fn each_matrix<T>(cpu: &Cpu, x: &[T], y: &mut [i32], shape: [usize; 3], kernel: Argmax<T>) {
    let [outer, length, inner] = shape;
    assert!([x.len(), y.len()] == [outer * length * inner, outer * inner], "lengths for {shape:?}");
    let matrix = Rows { rows: length, cols: inner };
    let matrices = x.chunks(matrix.len().max(1)).zip(y.chunks_mut(inner.max(1)));
    matrices.for_each(|(x, y)| kernel(cpu, x, y, matrix));
}
