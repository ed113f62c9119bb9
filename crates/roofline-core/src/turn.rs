//! A turn: what one set found of one case. Kept until the case's records are complete, so that a run
//! that was killed loses the turn in flight and nothing else.

use crate::record::{Course, Limiter, Sample, by_visit};
use crate::units::Seconds;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub schema: u32,
    /// Identifies the run that it belongs to.
    pub run: String,
    /// The case's id, and the number of the set.
    pub case: String,
    pub set: u32,
    /// What the pilot fixed.
    pub hub: String,
    pub limit: Option<(String, Limiter)>,
    pub lanes: Vec<Measured>,
}

/// What one set found of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub implementation: String,
    /// Name of the runner that hosts it: two may offer the same implementation.
    pub runner: String,
    pub course: Course,
    /// Median over pairs of neighbouring visits of ln(time / hub's time).
    pub to_hub: f64,
    #[serde(with = "by_visit")]
    pub samples: Vec<Sample>,
    pub doubling: Option<Doubling>,
    pub spent: Seconds,
}

/// Claims of n and 2n launches beside the conductor's clock, of one launch each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doubling {
    pub batch: u32,
    pub claimed: Seconds,
    /// Time that passed, in no sample, and that no waiting for a core explains.
    pub unclaimed: Seconds,
}
