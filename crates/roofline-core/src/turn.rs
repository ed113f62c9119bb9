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
    #[serde(default)]
    pub taken: Taken,
}

/// What was taken from a row while it was measured, where the system tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// Ticks of the machine's clock that its host gave to others, of all that passed.
    pub ticks: Option<(u64, u64)>,
    /// How often threads of the process were taken off their core.
    pub switches: Option<u64>,
}

impl Taken {
    /// Adds another set. What one of the two does not know, the other tells.
    pub fn add(&mut self, other: Taken) {
        self.ticks = sum(self.ticks, other.ticks, |(stolen, passed), (more, longer)| {
            (stolen.saturating_add(more), passed.saturating_add(longer))
        });
        self.switches = sum(self.switches, other.switches, u64::saturating_add);
    }

    /// Share of the time that the host gave to others.
    pub fn steal(&self) -> Option<f64> {
        let (stolen, passed) = self.ticks.filter(|(_, passed)| *passed > 0)?;
        Some(stolen as f64 / passed as f64)
    }
}

fn sum<T>(one: Option<T>, other: Option<T>, add: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// Claims of n and 2n launches beside the conductor's clock, of one launch each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doubling {
    pub batch: u32,
    pub claimed: Seconds,
    /// Time that passed, in no sample, and that no waiting for a core explains.
    pub unclaimed: Seconds,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stolen_tick_counts_for_the_time_of_all_sets() {
        let mut taken = Taken::default();
        assert_eq!(taken.steal(), None);
        for (stolen, switches) in [(1, Some(3)), (0, None), (0, Some(4))] {
            taken.add(Taken { ticks: Some((stolen, 20)), switches });
        }
        taken.add(Taken::default());
        assert_eq!(taken.steal(), Some(1.0 / 60.0));
        assert_eq!(taken.switches, Some(7));
    }
}
