//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// z = x / y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, div::vector::div};
///
/// let mut z = [0.0f32; 3];
/// div(&Cpu::serial(), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [2.0, 4.0, 6.0]);
/// ```
pub fn div<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x, y], z, shape, Div) {
        plain::div(cpu, x, y, z, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Div;

impl Formula<2> for Div {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x, y]: [L::F; 2]) -> L::F {
        lanes.div(x, y)
    }
}
