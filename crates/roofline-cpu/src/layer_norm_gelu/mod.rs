//! `layer-norm-gelu`: gelu(layer-norm(x)) in one pass; `layer-norm-gelu.tanh` with the gelu of that name.

pub mod plain;
pub mod vector;

use crate::bind::{floats, lanes};
use crate::catalog::Implementation;
use crate::layer_norm::prepare;
use crate::rowwise;
use crate::{Cpu, Rows, Scalar};
use vector::WithGelu;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("layer-norm-gelu", floats!(prepare, plain::layer_norm_gelu)).params(&["eps"]),
    rowwise::vector("layer-norm-gelu", lanes!(prepare, vector::layer_norm_gelu)).params(&["eps"]),
    rowwise::parallel("layer-norm-gelu", lanes!(prepare, vector::layer_norm_gelu_parallel)).params(&["eps"]),
    Implementation::plain("layer-norm-gelu.tanh", floats!(prepare, plain::layer_norm_gelu_tanh))
        .params(&["eps"]),
    rowwise::vector("layer-norm-gelu.tanh", lanes!(prepare, vector::layer_norm_gelu_tanh)).params(&["eps"]),
    rowwise::parallel("layer-norm-gelu.tanh", lanes!(prepare, vector::layer_norm_gelu_tanh_parallel))
        .params(&["eps"]),
];

/// gelu(layer-norm(x)) for each row of `x`, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm_gelu};
///
/// let mut y = [1.0; 2];
/// layer_norm_gelu(&Cpu::serial(), &[1.0, 3.0], &[0.0; 2], &[0.0; 2], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [0.0; 2]);
/// ```
pub fn layer_norm_gelu<T: Scalar>(cpu: &Cpu, x: &[T], w: &[T], b: &[T], y: &mut [T], shape: Rows, eps: f64) {
    if !vector::on(&cpu.pool, cpu, x, y, shape, WithGelu::by_erf(w, b, eps)) {
        plain::layer_norm_gelu(cpu, x, w, b, y, shape, eps);
    }
}

/// The same with the gelu of the hyperbolic tangent.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm_gelu_tanh};
///
/// let (mut y, shape) = ([0.0; 2], Rows { rows: 1, cols: 2 });
/// layer_norm_gelu_tanh(&Cpu::serial(), &[1.0, 3.0], &[0.0; 2], &[100.0; 2], &mut y, shape, 0.0);
/// assert_eq!(y, [100.0; 2]);
/// ```
pub fn layer_norm_gelu_tanh<T: Scalar>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
    shape: Rows,
    eps: f64,
) {
    if !vector::on(&cpu.pool, cpu, x, y, shape, WithGelu::by_tanh(w, b, eps)) {
        plain::layer_norm_gelu_tanh(cpu, x, w, b, y, shape, eps);
    }
}
