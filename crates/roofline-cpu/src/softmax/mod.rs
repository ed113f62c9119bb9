//! `softmax` over the last axis: yᵢ = exp(xᵢ - max) / Σⱼ exp(xⱼ - max).
//!
//! Subtracting the largest element keeps the exponentials in range. A row
//! with NaN or +∞ is NaN throughout, as is a row of -∞ only; -∞ beside finite
//! elements gives 0. One element read and one written is all the traffic a
//! row that fits a cache needs; the work is one exponential each.

pub mod columns;
pub mod masked;
pub mod parallel;
pub mod three_pass;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::scalar::InLanes;
use crate::{Cpu, Element, Rows, Scalar};
pub use columns::softmax_columns;
pub use masked::softmax_masked;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new(
        "softmax",
        "three-pass",
        "the definition: largest element, sum, quotients",
        floats!(unary, three_pass::softmax),
    ),
    Implementation::new(
        "softmax",
        "vector",
        "three passes in lanes over a row of exponentials kept in a near cache",
        lanes!(unary, vector::softmax),
    )
    .vector(),
    Implementation::new(
        "softmax",
        "parallel",
        "the vector kernel on whole rows, all threads",
        lanes!(unary, parallel::softmax),
    )
    .vector()
    .parallel(),
    Implementation::plain("softmax.columns", floats!(unary, columns::softmax_columns)),
    Implementation::plain("softmax.masked", floats!(unary, masked::softmax_masked)),
];

/// Softmax of each row of `x`, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax};
///
/// let mut y = [0.0f32; 4];
/// softmax(&Cpu::serial(), &[0.0, 0.0, 7.0, f32::NEG_INFINITY], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.5, 0.5, 1.0, 0.0]);
/// ```
pub fn softmax<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !T::in_lanes(InRows { cpu, x, y, shape }) {
        three_pass::softmax(cpu, x, y, shape);
    }
}

/// A call for types that have lanes.
struct InRows<'a, T> {
    cpu: &'a Cpu,
    x: &'a [T],
    y: &'a mut [T],
    shape: Rows,
}

impl<T> InLanes<T> for InRows<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let InRows { cpu, x, y, shape } = self;
        match cpu.pool.threads() {
            1 => vector::softmax(cpu, x, y, shape),
            _ => parallel::softmax(cpu, x, y, shape),
        }
    }
}

#[track_caller]
fn check(x: usize, y: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
}
