//! `log-softmax` over each row: y = x − logsumexp(x); `log-softmax.columns` over each column.
//! bf16 and f16 are computed in f32.
//! `log-softmax-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, middle, unary};
use crate::catalog::Implementation;
use crate::columnwise::{self, one};
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("log-softmax", floats!(unary, plain::log_softmax)),
    rowwise::vector("log-softmax", lanes!(unary, vector::log_softmax)),
    rowwise::parallel("log-softmax", lanes!(unary, vector::log_softmax_parallel)),
    Implementation::plain("log-softmax.columns", floats!(unary, plain::log_softmax_columns)),
    columnwise::vector("log-softmax.columns", lanes!(unary, vector::log_softmax_columns)),
    columnwise::parallel("log-softmax.columns", lanes!(unary, vector::log_softmax_columns_parallel)),
    Implementation::plain("log-softmax-axis", floats!(middle, plain::log_softmax_axis)),
    columnwise::vector("log-softmax-axis", lanes!(middle, vector::log_softmax_axis)),
    columnwise::parallel("log-softmax-axis", lanes!(middle, vector::log_softmax_axis_parallel)),
];

/// The logarithm of the softmax of each row, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, log_softmax};
///
/// let mut y = [0.0; 2];
/// log_softmax(&Cpu::serial(), &[7.0, 7.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [-(2f64.ln()); 2]);
/// ```
pub fn log_softmax<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !rowwise::map(&cpu.pool, cpu, x, y, shape, vector::LogSoftmax) {
        plain::log_softmax(cpu, x, y, shape);
    }
}

/// The logarithm of the softmax of each column, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, log_softmax_columns};
///
/// let mut y = [0.0; 2];
/// log_softmax_columns(&Cpu::serial(), &[7.0, 7.0], &mut y, Rows { rows: 2, cols: 1 });
/// assert_eq!(y, [-(2f64.ln()); 2]);
/// ```
pub fn log_softmax_columns<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !columnwise::map(&cpu.pool, cpu, x, y, one(shape), vector::LogSoftmaxColumns) {
        plain::log_softmax_columns(cpu, x, y, shape);
    }
}

/// The logarithm of the softmax along the middle dimension of x\[outer, length, inner\], likewise.
///
/// ```
/// use roofline_cpu::{Cpu, log_softmax_axis};
///
/// let mut y = [0.0; 4];
/// log_softmax_axis(&Cpu::serial(), &[7.0, 7.0, 0.0, 0.0], &mut y, [2, 2, 1]);
/// assert_eq!(y, [-(2f64.ln()); 4]);
/// ```
pub fn log_softmax_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    if !columnwise::map(&cpu.pool, cpu, x, y, shape, vector::LogSoftmaxColumns) {
        plain::log_softmax_axis(cpu, x, y, shape);
    }
}
