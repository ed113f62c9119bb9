//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// y = tanh x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, tanh::vector::tanh};
///
/// let mut y = [0.5f32; 3];
/// tanh(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn tanh<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Tanh) {
        plain::tanh(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Tanh;

impl Formula<1> for Tanh {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        crate::math::tanh(lanes, x)
    }
}
