//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// y = −x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, negate::vector::negate};
///
/// let mut y = [0.5f32; 3];
/// negate(&Cpu::serial(), &[1.0, -2.0, 0.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [-1.0, 2.0, 0.0]);
/// ```
pub fn negate<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Negate) {
        plain::negate(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Negate;

impl Formula<1> for Negate {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        lanes.mul(lanes.splat(-1.0), x)
    }
}
