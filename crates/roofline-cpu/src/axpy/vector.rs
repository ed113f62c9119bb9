//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes, update_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Pool, Rows, Scalar};

/// z = a · x + y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, axpy::vector::axpy};
///
/// let mut z = [0.0f32; 2];
/// axpy(&Cpu::serial(), &[1.0, 2.0], &[0.5; 2], &mut z, Rows { rows: 1, cols: 2 }, 2.5);
/// assert_eq!(z, [3.0, 5.5]);
/// ```
pub fn axpy<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows, a: f64) {
    if !map_lanes(cpu, [x, y], z, shape, Axpy(a as f32)) {
        plain::axpy(cpu, x, y, z, shape, a);
    }
}

/// z = a · x + z, likewise.
pub fn axpy_in_place<T: Scalar>(cpu: &Cpu, x: &[T], z: &mut [T], shape: Rows, a: f64) {
    if !update_lanes(Pool::alone(), cpu.isa, x, z, shape, Axpy(a as f32)) {
        plain::axpy_in_place(cpu, x, z, shape, a);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Axpy(pub(super) f32);

impl Formula<2> for Axpy {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x, y]: [L::F; 2]) -> L::F {
        lanes.mul_add(lanes.splat(self.0), x, y)
    }
}
