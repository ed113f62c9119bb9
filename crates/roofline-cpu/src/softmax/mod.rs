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

#[track_caller]
fn check(x: usize, y: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
}
