//! A vector at a time, exponentials included. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::exp::exp;
use crate::lanes::Lanes;
use crate::{Cpu, Rows, Scalar};

/// y = x / (1 + e⁻ˣ).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, silu::vector::silu};
///
/// let mut y = [0.0f32; 3];
/// silu(&Cpu::serial(), &[0.0; 3], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0; 3]);
/// ```
pub fn silu<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !map_lanes(cpu, [x], y, shape, Silu) {
        plain::silu(cpu, x, y, shape);
    }
}

#[derive(Clone, Copy)]
struct Silu;

impl Formula<1> for Silu {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        lanes.div(x, lanes.add(lanes.splat(1.0), exp(lanes, lanes.sub(lanes.splat(0.0), x))))
    }
}
