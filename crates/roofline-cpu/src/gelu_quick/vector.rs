//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::math::logistic;
use crate::{Cpu, Rows, Scalar};

/// y = x · sigmoid(1.702 · x).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu_quick::vector::gelu_quick};
///
/// let mut y = [0.5f32; 3];
/// gelu_quick(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu_quick<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, GeluQuick) {
        plain::gelu_quick(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct GeluQuick;

impl Formula<1> for GeluQuick {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        lanes.mul(x, logistic(lanes, lanes.mul(lanes.splat(1.702), x)))
    }
}
