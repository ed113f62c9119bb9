//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::math::logistic;
use crate::{Cpu, Rows, Scalar};

/// y = 1 / (1 + e⁻ˣ).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sigmoid::vector::sigmoid};
///
/// let mut y = [0.0f32; 3];
/// sigmoid(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.5; 3]);
/// ```
pub fn sigmoid<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Sigmoid) {
        plain::sigmoid(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Sigmoid;

impl Formula<1> for Sigmoid {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        logistic(lanes, x)
    }
}
