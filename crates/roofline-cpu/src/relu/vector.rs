//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// y = max(x, 0).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, relu::vector::relu};
///
/// let mut y = [0.0f32; 3];
/// relu(&Cpu::serial(), &[-1.0, 0.0, 2.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0, 0.0, 2.0]);
/// ```
pub fn relu<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Relu) {
        plain::relu(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Relu;

impl Formula<1> for Relu {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        lanes.max(lanes.splat(0.0), x)
    }
}
