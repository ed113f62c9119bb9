//! `mean`: y = Σ x / n, over each row, each column (`mean.columns`) or all (`mean.all`).
//! bf16 and f16 are computed in f32.
//! `mean-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, middle, unary};
use crate::catalog::Implementation;
use crate::columnwise::{self, one};
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("mean", floats!(unary, plain::mean)),
    rowwise::vector("mean", lanes!(unary, vector::mean)),
    rowwise::parallel("mean", lanes!(unary, vector::mean_parallel)),
    Implementation::plain("mean.columns", floats!(unary, plain::mean_columns)),
    columnwise::vector("mean.columns", lanes!(unary, vector::mean_columns)),
    columnwise::parallel("mean.columns", lanes!(unary, vector::mean_columns_parallel)),
    Implementation::plain("mean-axis", floats!(middle, plain::mean_axis)),
    columnwise::vector("mean-axis", lanes!(middle, vector::mean_axis)),
    columnwise::parallel("mean-axis", lanes!(middle, vector::mean_axis_parallel)),
    Implementation::plain("mean.all", floats!(unary, plain::mean_all)),
    rowwise::vector("mean.all", lanes!(unary, vector::mean_all)),
    rowwise::parallel("mean.all", lanes!(unary, vector::mean_all_parallel)),
];

/// The mean of each row, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mean};
///
/// let mut y = [0.0; 2];
/// mean(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [1.5, 3.5]);
/// ```
pub fn mean<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !rowwise::reduce(&cpu.pool, cpu, x, y, shape, vector::Mean) {
        plain::mean(cpu, x, y, shape);
    }
}

/// The mean of each column, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mean_columns};
///
/// let mut y = [0.0; 2];
/// mean_columns(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2.0, 3.0]);
/// ```
pub fn mean_columns<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !vector::axis_on(&cpu.pool, cpu, x, y, one(shape)) {
        plain::mean_columns(cpu, x, y, shape);
    }
}

/// The mean over the middle dimension of x\[outer, length, inner\], likewise.
///
/// ```
/// use roofline_cpu::{Cpu, mean_axis};
///
/// let mut y = [0.0; 2];
/// mean_axis(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, [2, 2, 1]);
/// assert_eq!(y, [1.5, 3.5]);
/// ```
pub fn mean_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    if !vector::axis_on(&cpu.pool, cpu, x, y, shape) {
        plain::mean_axis(cpu, x, y, shape);
    }
}

/// The mean of all, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, mean_all};
///
/// let mut y = [0.0];
/// mean_all(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2.5]);
/// ```
pub fn mean_all<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !vector::all_on(&cpu.pool, cpu, x, y, shape) {
        plain::mean_all(cpu, x, y, shape);
    }
}
