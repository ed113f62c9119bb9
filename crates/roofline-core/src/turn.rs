//! A turn: what one set found of one case. Kept until the case's records are complete, so that a run
//! that was killed loses the turn in flight and nothing else.

use crate::record::{Before, Course, Limiter, Sample, by_visit};
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
    #[serde(default)]
    pub account: Account,
    pub spent: Seconds,
    #[serde(default)]
    pub taken: Taken,
    /// How often the row had been measured anew: what it found before does not count.
    #[serde(default)]
    pub restarts: u32,
    /// Whether each launch that counts found new values.
    #[serde(default)]
    pub renews: bool,
    /// Why it was measured anew, where its own sets were doubted.
    #[serde(default)]
    pub doubted: Option<String>,
    /// What it had found before, where these sets are to confirm it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
}

/// What was taken from a row while it was measured, where the system tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// Ticks of the machine's clock that its host gave to others, of all that passed.
    pub ticks: Option<(u64, u64)>,
    /// Ticks of those that passed in which other programs had a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<u64>,
    /// How often threads of the process were taken off their core.
    pub switches: Option<u64>,
}

impl Taken {
    /// Adds another set. What one of the two does not know, the other tells.
    pub fn add(&mut self, other: Taken) {
        self.ticks = sum(self.ticks, other.ticks, |(stolen, passed), (more, longer)| {
            (stolen.saturating_add(more), passed.saturating_add(longer))
        });
        self.others = sum(self.others, other.others, u64::saturating_add);
        self.switches = sum(self.switches, other.switches, u64::saturating_add);
    }

    /// Share of the time that the host gave to others.
    pub fn steal(&self) -> Option<f64> {
        let (stolen, passed) = self.ticks.filter(|(_, passed)| *passed > 0)?;
        Some(stolen as f64 / passed as f64)
    }

    /// Share of the time that other programs used.
    pub fn used_by_others(&self) -> Option<f64> {
        let (_, passed) = self.ticks.filter(|(_, passed)| *passed > 0)?;
        self.others.map(|others| others as f64 / passed as f64)
    }
}

fn sum<T>(one: Option<T>, other: Option<T>, add: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// What the visits of a row tell beside their times: of its clock, of what it remembers, of its batches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// Visits without a launch: what a conversation takes.
    pub empty: Vec<Clocked>,
    /// Visits of the row's shape, those of twice the launches, and those of many times as many.
    pub plain: Vec<Clocked>,
    pub doubled: Vec<Clocked>,
    pub many: Vec<Clocked>,
    /// Visits of one launch on new values, where these are what counts.
    pub renewed: Vec<Clocked>,
    /// ln(claim for a launch among twice as many / claim for one of the row's shape), of each set; and among many times
    /// as many.
    pub among_twice: Vec<f64>,
    pub among_many: Vec<f64>,
    /// Seconds that the copy of a fresh output took, as the runner says.
    pub copies: Vec<f64>,
    /// ln(time with new values everywhere / time with the same values written again).
    pub memos: Vec<f64>,
    pub watched: Vec<Watched>,
    /// Of a hub: its visits beside other rows, which are asked for as theirs are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
}

/// Visits of a hub that were asked for in one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Launches that are not timed, samples, and launches of a sample.
    pub shape: (u32, u32, u32),
    pub account: Account,
}

impl Account {
    /// Adds what another set found.
    pub fn add(&mut self, other: &Account) {
        self.empty.extend_from_slice(&other.empty);
        self.plain.extend_from_slice(&other.plain);
        self.doubled.extend_from_slice(&other.doubled);
        self.many.extend_from_slice(&other.many);
        self.renewed.extend_from_slice(&other.renewed);
        self.among_twice.extend(other.compare_claims(&other.doubled));
        self.among_many.extend(other.compare_claims(&other.many));
        self.copies.extend_from_slice(&other.copies);
        self.memos.extend_from_slice(&other.memos);
        self.watched.extend_from_slice(&other.watched);
        for Beside { shape, account } in &other.beside {
            self.beside(*shape).add(account);
        }
    }

    /// The part of it that holds visits of a shape beside other rows.
    pub fn beside(&mut self, shape: (u32, u32, u32)) -> &mut Account {
        let known = self.beside.iter().position(|beside| beside.shape == shape);
        let at = known.unwrap_or_else(|| {
            self.beside.push(Beside { shape, account: Account::default() });
            self.beside.len() - 1
        });
        &mut self.beside[at].account
    }

    /// How the claims for visits of more launches compare with the others of the same set.
    fn compare_claims(&self, more: &[Clocked]) -> Option<f64> {
        // Means: of long visits more are disturbed than of short ones, of all launches as many.
        let computed = |visits: &[Clocked]| {
            let sum: f64 = visits.iter().map(|visit| visit.computed).sum();
            Some(sum / visits.len() as f64).filter(|mean| *mean > 0.0)
        };
        Some((computed(more)? / computed(&self.plain)?).ln())
    }
}

/// A visit by three clocks, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clocked {
    /// One launch, as the runner says; and no more than the CPU time that there was for it: whoever waits for a core does
    /// not compute.
    pub claimed: f64,
    #[serde(default)]
    pub computed: f64,
    /// What passed in no sample by the conductor's clock, and by the CPU clock of the process: of its busiest thread, where
    /// it may have several.
    pub wall: f64,
    pub cpu: f64,
    /// What of the visit that thread waited for a core, in samples or not, and what any of them or the conductor did.
    #[serde(default)]
    pub delayed: f64,
    pub waited: f64,
    /// CPU time of all its other threads, as a share of what passed; of visits to one thread it is not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
}

/// Launches of a watched visit that could have been told apart, and those that were seen to write the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    pub launches: u64,
    pub seen: u64,
    /// Looks that found what is right for no value of its input, and was not there before the launch.
    #[serde(default)]
    pub others: u64,
    /// Whether looks were so rare that what is there for a part of a launch may be missed in many of them.
    #[serde(default)]
    pub rarely: bool,
    /// Whether its input went on by itself, not only when the output had shown it.
    #[serde(default)]
    pub went_on: bool,
    /// Whether nothing was written to it before the last launch; of a visit that can tell.
    #[serde(default)]
    pub untouched: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_beside_rows_add_up_by_their_shape() {
        let visit = Clocked {
            claimed: 1.0,
            computed: 1.0,
            wall: 0.0,
            cpu: 0.0,
            delayed: 0.0,
            waited: 0.0,
            others: None,
        };
        let mut all = Account::default();
        for shape in [(0, 1, 1), (4, 9, 2), (0, 1, 1)] {
            let mut set = Account::default();
            set.beside(shape).plain.push(visit);
            set.beside(shape).doubled.push(Clocked { computed: 2.0, ..visit });
            all.add(&set);
        }
        assert_eq!(all.beside.len(), 2);
        let of = all.beside((0, 1, 1));
        assert_eq!((of.plain.len(), of.doubled.len()), (2, 2));
        assert_eq!(of.among_twice, [2.0_f64.ln(); 2]);
        assert!(all.plain.is_empty());
    }

    #[test]
    fn a_stolen_tick_counts_for_the_time_of_all_sets() {
        let mut taken = Taken::default();
        assert_eq!(taken.steal(), None);
        for (stolen, switches) in [(1, Some(3)), (0, None), (0, Some(4))] {
            taken.add(Taken { ticks: Some((stolen, 20)), others: Some(6), switches });
        }
        taken.add(Taken::default());
        assert_eq!(taken.steal(), Some(1.0 / 60.0));
        assert_eq!(taken.used_by_others(), Some(18.0 / 60.0));
        assert_eq!(taken.switches, Some(7));
    }
}
