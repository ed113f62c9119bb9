//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::math::logistic;
use crate::{Cpu, Rows, Scalar};

/// y = x / (1 + e⁻ˣ).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, silu::vector::silu};
///
/// let mut y = [0.0f32; 3];
/// silu(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn silu<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Silu) {
        plain::silu(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Silu;

impl Formula<1> for Silu {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        lanes.mul(x, logistic(lanes, x))
    }
}
