//! `sum`: y = Σ x, over each row, each column (`sum.columns`) or all (`sum.all`).
//! bf16 and f16 are computed in f32.
//! `sum-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod compensated;
pub mod plain;
pub mod tree;
pub mod vector;

use crate::bind::{floats, lanes, middle, unary};
use crate::catalog::{Implementation, Kernel};
use crate::columnwise::{self, one};
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("sum", floats!(unary, plain::sum)),
    rowwise::vector("sum", lanes!(unary, vector::sum)),
    rowwise::parallel("sum", lanes!(unary, vector::sum_parallel)),
    Implementation::plain("sum.columns", floats!(unary, plain::sum_columns)),
    columnwise::vector("sum.columns", lanes!(unary, vector::sum_columns)),
    columnwise::parallel("sum.columns", lanes!(unary, vector::sum_columns_parallel)),
    Implementation::plain("sum-axis", floats!(middle, plain::sum_axis)),
    columnwise::vector("sum-axis", lanes!(middle, vector::sum_axis)),
    columnwise::parallel("sum-axis", lanes!(middle, vector::sum_axis_parallel)),
    Implementation::plain("sum.all", floats!(unary, plain::sum_all)),
    rowwise::vector("sum.all", lanes!(unary, vector::sum_all)),
    rowwise::parallel("sum.all", lanes!(unary, vector::sum_all_parallel)),
    compensated("sum", floats!(unary, compensated::sum)),
    compensated("sum.columns", floats!(unary, compensated::sum_columns)),
    compensated("sum.all", floats!(unary, compensated::sum_all)),
    Implementation::new("sum.all", "tree", "blocks added in halves", floats!(unary, tree::sum_all))
        .parallel(),
];

const fn compensated(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::new(form, "compensated", "what is rounded away is added up too", kernels)
}

/// The sum of each row, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum};
///
/// let mut y = [0.0; 2];
/// sum(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [3.0, 7.0]);
/// ```
pub fn sum<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !rowwise::reduce(&cpu.pool, cpu, x, y, shape, rowwise::Summed(rowwise::Itself)) {
        plain::sum(cpu, x, y, shape);
    }
}

/// The sum of each column, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum_columns};
///
/// let mut y = [0.0; 2];
/// sum_columns(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [4.0, 6.0]);
/// ```
pub fn sum_columns<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !vector::axis_on(&cpu.pool, cpu, x, y, one(shape)) {
        plain::sum_columns(cpu, x, y, shape);
    }
}

/// The sum over the middle dimension of x\[outer, length, inner\], likewise.
///
/// ```
/// use roofline_cpu::{Cpu, sum_axis};
///
/// let mut y = [0.0; 2];
/// sum_axis(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, [2, 2, 1]);
/// assert_eq!(y, [3.0, 7.0]);
/// ```
pub fn sum_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    if !vector::axis_on(&cpu.pool, cpu, x, y, shape) {
        plain::sum_axis(cpu, x, y, shape);
    }
}

/// The sum of all, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sum_all};
///
/// let mut y = [0.0];
/// sum_all(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [10.0]);
/// ```
pub fn sum_all<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !vector::all_on(&cpu.pool, cpu, x, y, shape) {
        plain::sum_all(cpu, x, y, shape);
    }
}
