//! What a case must do, as probes of its limit are told.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// What a case must do whatever the implementation: operations by kind, compulsory traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Fused multiply-adds; each counts as two operations.
    pub multiply_adds: u64,
    /// Additions, multiplications, comparisons that stand alone; divisions and roots, which have units of their own.
    pub simple: u64,
    /// Exponentials, logarithms, sines.
    pub special: u64,
    pub read: Bytes,
    pub written: Bytes,
}

impl Work {
    pub fn flops(&self) -> u64 {
        2u64.saturating_mul(self.multiply_adds).saturating_add(self.simple).saturating_add(self.special)
    }

    pub fn traffic(&self) -> Bytes {
        self.read + self.written
    }
}
