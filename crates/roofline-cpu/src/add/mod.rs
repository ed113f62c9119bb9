//! `add`: z = x + y, element by element. bf16 and f16 are added in f32.
//!
//! One addition and three elements of traffic each: memory is the limit at
//! every size beyond the caches, and the ladder is about moving bytes.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{binary, floats, lanes};
use crate::catalog::Implementation;
use crate::scalar::InLanes;
use crate::{Cpu, Element, Rows, Scalar};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new("add", "plain", "one loop over the elements", floats!(binary, plain::add)),
    Implementation::new(
        "add",
        "vector",
        "one vector at a time, large outputs streamed past the caches",
        lanes!(binary, vector::add),
    )
    .vector(),
    Implementation::new(
        "add",
        "parallel",
        "the vector loop on contiguous pieces, all threads",
        lanes!(binary, parallel::add),
    )
    .vector()
    .parallel(),
];

/// z = x + y, by the rung that suits the type and the threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add};
///
/// let mut z = [0.0f32; 3];
/// add(&Cpu::serial(), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [1.5, 2.5, 3.5]);
/// ```
pub fn add<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    if !T::in_lanes(InRows { cpu, x, y, z, shape }) {
        plain::add(cpu, x, y, z, shape);
    }
}

/// A call for types that have lanes.
struct InRows<'a, T> {
    cpu: &'a Cpu,
    x: &'a [T],
    y: &'a [T],
    z: &'a mut [T],
    shape: Rows,
}

impl<T> InLanes<T> for InRows<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let InRows { cpu, x, y, z, shape } = self;
        match cpu.pool.threads() {
            1 => vector::add(cpu, x, y, z, shape),
            _ => parallel::add(cpu, x, y, z, shape),
        }
    }
}

#[track_caller]
fn check(x: usize, y: usize, z: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
    assert_eq!(z, shape.len(), "length of z for {shape:?}");
}
