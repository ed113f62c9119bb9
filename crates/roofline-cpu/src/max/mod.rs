//! `max`: y = the largest x; NaN where there is one, over each row, each column (`max.columns`) or all (`max.all`).
//! bf16 and f16 are computed in f32.
//! `max-axis` is over the middle one of three dimensions: that of columns, matrix after matrix.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes, middle, unary};
use crate::catalog::Implementation;
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};
pub use plain::{max_all, max_columns};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("max", floats!(unary, plain::max)),
    rowwise::vector("max", lanes!(unary, vector::max)),
    rowwise::parallel("max", lanes!(unary, vector::max_parallel)),
    Implementation::plain("max.columns", floats!(unary, plain::max_columns)),
    Implementation::plain("max-axis", floats!(middle, plain::max_columns)),
    Implementation::plain("max.all", floats!(unary, plain::max_all)),
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
