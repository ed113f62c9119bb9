//! `softmax-axis`: softmax over the middle dimension of x\[outer, length, inner\]. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{floats, lanes, middle};
use crate::catalog::Implementation;
use crate::columnwise;
use crate::softmax::columns_vector::{self, SoftmaxColumns};
use crate::{Cpu, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("softmax-axis", floats!(middle, plain::softmax_axis)),
    columnwise::vector("softmax-axis", lanes!(middle, columns_vector::softmax_axis)),
    columnwise::parallel("softmax-axis", lanes!(middle, columns_vector::softmax_axis_parallel)),
];

/// Softmax over the middle dimension of `x`, whose shape is \[outer, length, inner\], by the rung that suits the type and
/// the threads.
///
/// ```
/// use roofline_cpu::{Cpu, softmax_axis};
///
/// let mut y = [0.0; 4];
/// softmax_axis(&Cpu::serial(), &[0.0, 0.0, 7.0, f64::NEG_INFINITY], &mut y, [2, 2, 1]);
/// assert_eq!(y, [0.5, 0.5, 1.0, 0.0]);
/// ```
pub fn softmax_axis<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    if !columnwise::map(&cpu.pool, cpu, x, y, shape, SoftmaxColumns) {
        plain::softmax_axis(cpu, x, y, shape);
    }
}
