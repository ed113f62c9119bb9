//! `softmax` over the last axis: yᵢ = exp(xᵢ - max) / Σⱼ exp(xⱼ - max).
//!
//! Subtracting the largest element keeps the exponentials in range. A row
//! with NaN or +∞ is NaN throughout, as is a row of -∞ only; -∞ beside finite
//! elements gives 0. One element read and one written is all the traffic a
//! row that fits a cache needs; the work is one exponential each.

pub mod columns;
pub mod columns_vector;
pub mod masked;
pub mod parallel;
pub mod three_pass;
pub mod vector;

use crate::bind::{floats, lanes, unary};
use crate::catalog::Implementation;
use crate::columnwise::{self, one};
use crate::rowwise;
use crate::scalar::InLanes;
use crate::{Cpu, Element, Rows, Scalar};

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
    columnwise::vector("softmax.columns", lanes!(unary, columns_vector::softmax_columns)),
    columnwise::parallel("softmax.columns", lanes!(unary, columns_vector::softmax_columns_parallel)),
    Implementation::plain("softmax.masked", floats!(unary, masked::softmax_masked)),
    rowwise::vector("softmax.masked", lanes!(unary, vector::softmax_masked)),
    rowwise::parallel("softmax.masked", lanes!(unary, parallel::softmax_masked)),
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
    if !T::in_lanes(InRows { cpu, x, y, shape, is_masked: false }) {
        three_pass::softmax(cpu, x, y, shape);
    }
}

/// Softmax of each row of `x`, 0 throughout where all of it is -∞, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax_masked};
///
/// let mut y = [1.0; 2];
/// softmax_masked(&Cpu::serial(), &[f64::NEG_INFINITY; 2], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [0.0; 2]);
/// ```
pub fn softmax_masked<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !T::in_lanes(InRows { cpu, x, y, shape, is_masked: true }) {
        masked::softmax_masked(cpu, x, y, shape);
    }
}

/// Softmax of each column of `x`, likewise.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax_columns};
///
/// let mut y = [0.0; 4];
/// softmax_columns(&Cpu::serial(), &[0.0, 7.0, 0.0, f64::NEG_INFINITY], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.5, 1.0, 0.5, 0.0]);
/// ```
pub fn softmax_columns<T: Scalar>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    if !columnwise::map(&cpu.pool, cpu, x, y, one(shape), columns_vector::SoftmaxColumns) {
        columns::softmax_columns(cpu, x, y, shape);
    }
}

/// A call for types that have lanes.
struct InRows<'a, T> {
    cpu: &'a Cpu,
    x: &'a [T],
    y: &'a mut [T],
    shape: Rows,
    is_masked: bool,
}

impl<T> InLanes<T> for InRows<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let InRows { cpu, x, y, shape, is_masked } = self;
        match (cpu.pool.threads(), is_masked) {
            (1, false) => vector::softmax(cpu, x, y, shape),
            (1, true) => vector::softmax_masked(cpu, x, y, shape),
            (_, false) => parallel::softmax(cpu, x, y, shape),
            (_, true) => parallel::softmax_masked(cpu, x, y, shape),
        }
    }
}

#[track_caller]
fn check(x: usize, y: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
}
