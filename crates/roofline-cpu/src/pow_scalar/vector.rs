//! Vectors, four lines at a time; large outputs go past the caches. f64 has no lanes here: it is computed by the definition.

use super::plain;
use crate::elementwise::{Formula, map_lanes};
use crate::lanes::{Lanes, MAX_LANES};
use crate::{Cpu, Rows, Scalar};

/// y = x ^ exponent.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, pow_scalar::vector::pow_scalar};
///
/// let mut y = [0.0f32; 3];
/// pow_scalar(&Cpu::serial(), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 }, 2.0);
/// assert_eq!(y, [1.0, 4.0, 9.0]);
/// ```
pub fn pow_scalar<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows, exponent: f64) {
    if !map_lanes(cpu, [x], y, shape, Pow(exponent as f32)) {
        plain::pow_scalar(cpu, x, y, shape, exponent);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Pow(pub(super) f32);

impl Formula<1> for Pow {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        if self.0 == 2.0 {
            lanes.mul(x, x)
        } else if self.0 == 3.0 {
            lanes.mul(lanes.mul(x, x), x)
        } else if self.0 == 0.5 {
            lanes.sqrt(x)
        } else if self.0 == -1.0 {
            lanes.div(lanes.splat(1.0), x)
        } else {
            // A power to 2 units needs a logarithm to many more bits than lanes have.
            let mut y = [0.0; MAX_LANES];
            lanes.store_f32(x, &mut y);
            each(&mut y, self.0);
            lanes.load_f32(&y)
        }
    }
}

#[inline(never)]
fn each(y: &mut [f32; MAX_LANES], exponent: f32) {
    for y in y {
        *y = y.powf(exponent);
    }
}
