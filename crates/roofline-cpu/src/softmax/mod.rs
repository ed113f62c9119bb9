//! `softmax` over the last axis: yᵢ = exp(xᵢ - max) / Σⱼ exp(xⱼ - max).
//!
//! Subtracting the largest element keeps the exponentials in range. A row
//! with NaN or +∞ is NaN throughout, as is a row of -∞ only; -∞ beside finite
//! elements gives 0. One element read and one written is all the traffic a
//! row that fits a cache needs; the work is one exponential each.

pub mod parallel;
pub mod three_pass;
pub mod vector;

use crate::Rows;
use crate::catalog::Implementation;
use crate::catalog::Kernel::{UnaryBf16, UnaryF16, UnaryF32};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new(
        "softmax",
        "three-pass",
        "the definition: largest element, sum, quotients",
        &[UnaryF32(three_pass::softmax), UnaryBf16(three_pass::softmax), UnaryF16(three_pass::softmax)],
    ),
    Implementation::new(
        "softmax",
        "vector",
        "three passes in lanes over a row of exponentials kept in a near cache",
        &[UnaryF32(vector::softmax), UnaryBf16(vector::softmax), UnaryF16(vector::softmax)],
    )
    .vector(),
    Implementation::new(
        "softmax",
        "parallel",
        "the vector kernel on whole rows, all threads",
        &[UnaryF32(parallel::softmax), UnaryBf16(parallel::softmax), UnaryF16(parallel::softmax)],
    )
    .vector()
    .parallel(),
];

#[track_caller]
fn check(x: usize, y: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
}
