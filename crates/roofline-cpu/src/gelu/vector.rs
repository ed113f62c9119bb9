//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use std::f32::consts::FRAC_1_SQRT_2;

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::math::erf;
use crate::{Cpu, Rows, Scalar};

/// y = ½ · x · (1 + erf(x / √2)).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, gelu::vector::gelu};
///
/// let mut y = [0.5f32; 3];
/// gelu(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn gelu<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Gelu) {
        plain::gelu(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Gelu;

impl Formula<1> for Gelu {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        let half = lanes.mul(x, lanes.splat(0.5));
        lanes.mul_add(half, erf(lanes, lanes.mul(x, lanes.splat(FRAC_1_SQRT_2))), half)
    }
}
