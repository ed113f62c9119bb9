//! `log-softmax` over each row: y = x − logsumexp(x); `log-softmax.columns` over each column.
//! bf16 and f16 are computed in f32.
//! `log-softmax-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, middle, unary};
use crate::catalog::Implementation;
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};
pub use plain::log_softmax_columns;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("log-softmax", floats!(unary, plain::log_softmax)),
    rowwise::vector("log-softmax", lanes!(unary, vector::log_softmax)),
    rowwise::parallel("log-softmax", lanes!(unary, vector::log_softmax_parallel)),
    Implementation::plain("log-softmax.columns", floats!(unary, plain::log_softmax_columns)),
    Implementation::plain("log-softmax-axis", floats!(middle, plain::log_softmax_columns)),
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
