//! `rms-norm` over the last axis: y = x / sqrt(mean(x²) + ε) · w, ε = 10⁻⁶.
//!
//! Two reads of a row, the second from a near cache, and one write; two
//! multiply-adds' worth of work each. Infinity in a row makes its finite
//! elements 0 and the infinite ones NaN; NaN makes the whole row NaN.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::Rows;
use crate::catalog::Implementation;
use crate::catalog::Kernel::{BinaryBf16, BinaryF16, BinaryF32};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new(
        "rms-norm",
        "plain",
        "the definition, row by row, in f64",
        &[BinaryF32(plain::rms_norm), BinaryBf16(plain::rms_norm), BinaryF16(plain::rms_norm)],
    ),
    Implementation::new(
        "rms-norm",
        "vector",
        "two passes in lanes, the second from a near cache",
        &[BinaryF32(vector::rms_norm), BinaryBf16(vector::rms_norm), BinaryF16(vector::rms_norm)],
    )
    .vector(),
    Implementation::new(
        "rms-norm",
        "parallel",
        "the vector kernel on whole rows, all threads",
        &[BinaryF32(parallel::rms_norm), BinaryBf16(parallel::rms_norm), BinaryF16(parallel::rms_norm)],
    )
    .vector()
    .parallel(),
];

/// ε: keeps a row of zeros finite.
pub const EPSILON: f32 = 1e-6;

#[track_caller]
fn check(x: usize, w: usize, y: usize, shape: Rows) {
    assert_eq!(x, shape.len(), "length of x for {shape:?}");
    assert_eq!(w, shape.cols, "length of w for {shape:?}");
    assert_eq!(y, shape.len(), "length of y for {shape:?}");
}
