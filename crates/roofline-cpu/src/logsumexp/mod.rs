//! `logsumexp`: y = m + ln Σ exp(x − m), m the largest x, over each row, each column (`logsumexp.columns`) or all (`logsumexp.all`).
//! bf16 and f16 are computed in f32.
//! `logsumexp-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, middle, unary};
use crate::catalog::Implementation;
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};
pub use plain::{logsumexp_all, logsumexp_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("logsumexp", floats!(unary, plain::logsumexp)),
    rowwise::vector("logsumexp", lanes!(unary, vector::logsumexp)),
    rowwise::parallel("logsumexp", lanes!(unary, vector::logsumexp_parallel)),
    Implementation::plain("logsumexp.columns", floats!(unary, plain::logsumexp_columns)),
    Implementation::plain("logsumexp-axis", floats!(middle, plain::logsumexp_columns)),
    Implementation::plain("logsumexp.all", floats!(unary, plain::logsumexp_all)),
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
