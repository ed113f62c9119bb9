//! `reshape`: y = x, element after element. Nothing needs to move; where y has memory of its own, it is a copy.

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
use crate::copy::{self, parallel, plain, vector};
use crate::elementwise::{PARALLEL, VECTOR};
use crate::scratch::Plain;
use crate::{Cpu, Datum, Rows};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("reshape", floats!(unary, plain::copy)),
    Implementation::new("reshape", "vector", VECTOR, floats!(unary, vector::copy)).vector(),
    Implementation::new("reshape", "parallel", PARALLEL, floats!(unary, parallel::copy)).vector().parallel(),
];

/// y = x, whose shape is another.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, reshape};
///
/// let mut y = [0; 4];
/// reshape(&Cpu::serial(), &[1, 2, 3, 4], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [1, 2, 3, 4]);
/// ```
pub fn reshape<T: Datum + Plain>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    copy::copy(cpu, x, y, shape);
}
