//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::math::logistic;
use crate::{Cpu, Rows, Scalar};

/// y = ½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu_tanh::vector::gelu_tanh};
///
/// let mut y = [0.5f32; 3];
/// gelu_tanh(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu_tanh<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, GeluTanh) {
        plain::gelu_tanh(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(crate) struct GeluTanh;

impl Formula<1> for GeluTanh {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        // ½ · (1 + tanh u) is 1 / (1 + e⁻²ᵘ), which loses nothing where tanh u is nearly -1.
        let cubic = lanes.mul_add(lanes.mul(lanes.splat(0.044715), lanes.mul(x, x)), x, x);
        lanes.mul(x, logistic(lanes, lanes.mul(lanes.splat(1.595_769), cubic)))
    }
}
