//! `transpose`: y\[j, i\] = x\[i, j\], bit for bit.

pub mod plain;
pub mod tiles;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use tiles::transpose_parallel as transpose;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("transpose", floats!(unary, plain::transpose)),
    Implementation::new("transpose", "tiles", TILES, floats!(unary, tiles::transpose)).vector(),
    Implementation::new("transpose", "tiles-parallel", PARALLEL, floats!(unary, tiles::transpose_parallel))
        .vector()
        .parallel(),
];

/// What the rung does that turns squares.
pub(crate) const TILES: &str = "squares of vectors, turned in registers";
/// What the one on all threads does.
pub(crate) const PARALLEL: &str = "squares of vectors, turned in registers, on all threads";
