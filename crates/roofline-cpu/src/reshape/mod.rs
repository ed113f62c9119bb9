//! `reshape`: y = x, element after element. Nothing needs to move; where y has memory of its own, it is a copy.

use crate::bind::{floats, unary};
use crate::catalog::Implementation;
use crate::copy::plain;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[Implementation::plain("reshape", floats!(unary, plain::copy))];
