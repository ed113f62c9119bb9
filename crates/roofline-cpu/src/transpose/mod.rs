//! `transpose`: y\[j, i\] = x\[i, j\], bit for bit.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::transpose;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("transpose", floats!(unary, plain::transpose))];
