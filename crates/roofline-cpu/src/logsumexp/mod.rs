//! `logsumexp`: y = m + ln Σ exp(x − m), m the largest x, over each row, each column (`logsumexp.columns`) or all (`logsumexp.all`).
//! bf16 and f16 are computed in f32.
//! `logsumexp-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, middle, unary};
use crate::catalog::Implementation;
use crate::columnwise::{self, one};
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("logsumexp", floats!(unary, plain::logsumexp)),
    rowwise::vector("logsumexp", lanes!(unary, vector::logsumexp)),
    rowwise::parallel("logsumexp", lanes!(unary, vector::logsumexp_parallel)),
    Implementation::plain("logsumexp.columns", floats!(unary, plain::logsumexp_columns)),
    columnwise::vector("logsumexp.columns", lanes!(unary, vector::logsumexp_columns)),
    columnwise::parallel("logsumexp.columns", lanes!(unary, vector::logsumexp_columns_parallel)),
    Implementation::plain("logsumexp-axis", floats!(middle, plain::logsumexp_axis)),
    columnwise::vector("logsumexp-axis", lanes!(middle, vector::logsumexp_axis)),
    columnwise::parallel("logsumexp-axis", lanes!(middle, vector::logsumexp_axis_parallel)),
    Implementation::plain("logsumexp.all", floats!(unary, plain::logsumexp_all)),
    rowwise::vector("logsumexp.all", lanes!(unary, vector::logsumexp_all)),
    rowwise::parallel("logsumexp.all", lanes!(unary, vector::logsumexp_all_parallel)),
];

/// The logarithm of the sum of exponentials of each row, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, logsumexp};
///
/// let mut y = [0.0; 2];
/// logsumexp(&Cpu::serial(), &[0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.0, 0.0]);
/// ```
pub fn logsumexp<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !rowwise::reduce(&cpu.pool, cpu, x, y, shape, vector::LogSumExp) {
        plain::logsumexp(cpu, x, y, shape);
    }
}

/// The logarithm of the sum of exponentials of each column, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, logsumexp_columns};
///
/// let mut y = [0.0; 2];
/// let x = [0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0];
/// logsumexp_columns(&Cpu::serial(), &x, &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.0, 0.0]);
/// ```
pub fn logsumexp_columns<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !columnwise::reduce(&cpu.pool, cpu, x, y, one(shape), vector::LogSumExpColumns) {
        plain::logsumexp_columns(cpu, x, y, shape);
    }
}

/// The logarithm of the sum of exponentials along the middle dimension of x\[outer, length, inner\], likewise.
///
/// ```
/// use roofline_cpu::{Cpu, logsumexp_axis};
///
/// let mut y = [0.0; 2];
/// logsumexp_axis(&Cpu::serial(), &[0.0, 0.0, f64::NEG_INFINITY, 7.0], &mut y, [2, 2, 1]);
/// assert_eq!(y, [2f64.ln(), 7.0]);
/// ```
pub fn logsumexp_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    if !columnwise::reduce(&cpu.pool, cpu, x, y, shape, vector::LogSumExpColumns) {
        plain::logsumexp_axis(cpu, x, y, shape);
    }
}

/// The logarithm of the sum of exponentials of all, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, logsumexp_all};
///
/// let mut y = [0.0];
/// let x = [0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0];
/// logsumexp_all(&Cpu::serial(), &x, &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2f64.ln()]);
/// ```
pub fn logsumexp_all<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !vector::all_on(&cpu.pool, cpu, x, y, shape) {
        plain::logsumexp_all(cpu, x, y, shape);
    }
}
