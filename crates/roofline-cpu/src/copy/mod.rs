//! `copy`: y = x, bit for bit.

pub mod plain;

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
pub use plain::copy;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("copy", floats!(unary, plain::copy))];
