//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// y = eˣ.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, exponential::vector::exp};
///
/// let mut y = [0.0f32; 3];
/// exp(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0; 3]);
/// ```
pub fn exp<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Exp) {
        plain::exp(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Exp;

impl Formula<1> for Exp {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        crate::math::exp(lanes, x)
    }
}
