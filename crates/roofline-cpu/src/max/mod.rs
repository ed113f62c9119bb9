//! `max`: y = the largest x; NaN where there is one, over each row, each column (`max.columns`) or all (`max.all`).
//! bf16 and f16 are computed in f32.
//! `max-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, middle, unary};
use crate::catalog::Implementation;
use crate::columnwise::{self, one};
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("max", floats!(unary, plain::max)),
    rowwise::vector("max", lanes!(unary, vector::max)),
    rowwise::parallel("max", lanes!(unary, vector::max_parallel)),
    Implementation::plain("max.columns", floats!(unary, plain::max_columns)),
    columnwise::vector("max.columns", lanes!(unary, vector::max_columns)),
    columnwise::parallel("max.columns", lanes!(unary, vector::max_columns_parallel)),
    Implementation::plain("max-axis", floats!(middle, plain::max_axis)),
    columnwise::vector("max-axis", lanes!(middle, vector::max_axis)),
    columnwise::parallel("max-axis", lanes!(middle, vector::max_axis_parallel)),
    Implementation::plain("max.all", floats!(unary, plain::max_all)),
    rowwise::vector("max.all", lanes!(unary, vector::max_all)),
    rowwise::parallel("max.all", lanes!(unary, vector::max_all_parallel)),
];

/// The largest element of each row; NaN where there is one, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, max};
///
/// let mut y = [0.0; 2];
/// max(&Cpu::serial(), &[1.0, 2.0, 4.0, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [2.0, 4.0]);
/// ```
pub fn max<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !rowwise::reduce(&cpu.pool, cpu, x, y, shape, vector::Max) {
        plain::max(cpu, x, y, shape);
    }
}

/// The largest element of each column, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, max_columns};
///
/// let mut y = [0.0; 2];
/// max_columns(&Cpu::serial(), &[1.0, 2.0, 4.0, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [4.0, 3.0]);
/// ```
pub fn max_columns<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !columnwise::reduce(&cpu.pool, cpu, x, y, one(shape), vector::MaxColumns) {
        plain::max_columns(cpu, x, y, shape);
    }
}

/// The largest element along the middle dimension of x\[outer, length, inner\], likewise.
///
/// ```
/// use roofline_cpu::{Cpu, max_axis};
///
/// let mut y = [0.0; 2];
/// max_axis(&Cpu::serial(), &[1.0, 2.0, 4.0, 3.0], &mut y, [2, 2, 1]);
/// assert_eq!(y, [2.0, 4.0]);
/// ```
pub fn max_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    if !columnwise::reduce(&cpu.pool, cpu, x, y, shape, vector::MaxColumns) {
        plain::max_axis(cpu, x, y, shape);
    }
}

/// The largest element of all, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, max_all};
///
/// let mut y = [0.0];
/// max_all(&Cpu::serial(), &[1.0, 2.0, 4.0, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [4.0]);
/// ```
pub fn max_all<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !vector::all_on(&cpu.pool, cpu, x, y, shape) {
        plain::max_all(cpu, x, y, shape);
    }
}
