//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// y = √x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, sqrt::vector::sqrt};
///
/// let mut y = [0.5f32; 3];
/// sqrt(&Cpu::serial(), &[1.0, 4.0, 9.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0, 2.0, 3.0]);
/// ```
pub fn sqrt<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Sqrt) {
        plain::sqrt(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Sqrt;

impl Formula<1> for Sqrt {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        lanes.sqrt(x)
    }
}
