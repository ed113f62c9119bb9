//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// y = x + scalar.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add_scalar::vector::add_scalar};
///
/// let mut y = [0.0f32; 3];
/// add_scalar(&Cpu::serial(), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 }, 2.5);
/// assert_eq!(y, [3.5, 4.5, 5.5]);
/// ```
pub fn add_scalar<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, scalar: f64) {
    if !map_lanes(cpu, [x], y, shape, AddScalar(scalar as f32)) {
        plain::add_scalar(cpu, x, y, shape, scalar);
    }
}

#[derive(Clone, Copy)]
pub(super) struct AddScalar(pub(super) f32);

impl Formula<1> for AddScalar {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        lanes.add(x, lanes.splat(self.0))
    }
}
