//! `add`: z = x + y, element by element. bf16 and f16 are added in f32.
//!
//! One addition and three elements of traffic each: memory is the limit at
//! every size beyond the caches, and the ladder is about moving bytes.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::Rows;
use crate::catalog::Implementation;
use crate::catalog::Kernel::{BinaryBf16, BinaryF16, BinaryF32};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new(
        "add",
        "plain",
        "one loop over the elements",
        &[BinaryF32(plain::add), BinaryBf16(plain::add), BinaryF16(plain::add)],
    ),
    Implementation::new(
        "add",
        "vector",
        "one vector at a time, large outputs streamed past the caches",
        &[BinaryF32(vector::add), BinaryBf16(vector::add), BinaryF16(vector::add)],
    )
    .vector(),
    Implementation::new(
        "add",
        "parallel",
        "the vector loop on contiguous pieces, all threads",
        &[BinaryF32(parallel::add), BinaryBf16(parallel::add), BinaryF16(parallel::add)],
    )
    .vector()
    .parallel(),
];

#[track_caller]
fn check(x: usize, y: usize, z: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
    assert_eq!(z, shape.len(), "length of z for {shape:?}");
}
