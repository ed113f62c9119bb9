//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// y = ln x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, log::vector::log};
///
/// let mut y = [0.5f32; 3];
/// log(&Cpu::serial(), &[1.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn log<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Log) {
        plain::log(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Log;

impl Formula<1> for Log {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        crate::math::log(lanes, x)
    }
}
