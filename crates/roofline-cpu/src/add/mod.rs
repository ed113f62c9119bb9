//! `add`: z = x + y, element by element. bf16 and f16 are added in f32.
//!
//! One addition and three elements of traffic each: memory is the limit at
//! every size beyond the caches, and the ladder is about moving bytes.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::Rows;

#[track_caller]
fn check(x: usize, y: usize, z: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
    assert_eq!(z, shape.len(), "length of z for {shape:?}");
}
