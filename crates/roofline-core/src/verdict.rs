//! What the rounds of a row mean: its share of the limit, and how it compares with the hub.
//!
//! Looks are taken after 6, 12 and 24 sets, each with its part of one error probability; the last
//! one takes what is left. So the interval at the last look holds with 99 % over all looks together.

use crate::record::{Ended, Limiter, Record, Rounds, Status};
use crate::stats::{self, Interval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Sets after which a look is taken, and the error probability that it spends.
pub const LOOKS: [(usize, f64); 3] = [(6, 0.002), (12, 0.003), (24, 0.005)];
/// Error probability of all looks together.
pub const ALPHA: f64 = 0.01;
/// No decision on fewer sets.
pub const FEWEST_SETS: usize = LOOKS[0].0;
pub const MOST_SETS: usize = LOOKS[LOOKS.len() - 1].0;

/// A difference that counts as none unless told otherwise.
pub const DELTA: f64 = 0.01;

/// A difference within this is never called faster or slower: ln 1.003.
pub const FLOOR: f64 = 0.002_995_508_979_798_478;
/// A share of the limit is known when its interval is no wider than this to either side.
pub const SHARE_PRECISION: f64 = 0.02;
/// Launches shorter than this show no share: a probe of so short a case measures its own loop.
pub const SHORTEST_SHARE: f64 = 1e-6;

/// Error probability of the look after `sets` sets; `None` when none is due.
///
/// The last look takes what earlier ones have not spent, wherever it falls.
pub fn look(sets: usize, is_last: bool) -> Option<f64> {
    if sets < FEWEST_SETS {
        return None;
    }
    // A run that was killed at its last set may have taken one more.
    let sets = sets.min(MOST_SETS);
    let spent: f64 = LOOKS.iter().filter(|(at, _)| *at < sets).map(|(_, alpha)| alpha).sum();
    let due = LOOKS.iter().find(|(at, _)| *at == sets).map(|(_, alpha)| *alpha);
    if is_last || sets >= MOST_SETS { Some(ALPHA - spent) } else { due }
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    pub fn of(interval: Interval) -> Ratio {
        let Interval { mean, half } = interval;
        Ratio { value: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp() }
    }

    /// Half the interval's width as a share of the value.
    pub fn half_width(&self) -> f64 {
        (self.high / self.low).ln() / 2.0
    }
}

/// How a row compares with the hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    Faster,
    Slower,
    /// Within the difference that counts, shown by equivalence.
    Same,
    Inconclusive,
}

impl Word {
    pub fn name(self) -> &'static str {
        match self {
            Word::Faster => "faster",
            Word::Slower => "slower",
            Word::Same => "same",
            Word::Inconclusive => "inconclusive",
        }
    }
}

/// A row against the hub.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    pub word: Word,
    /// How many times as fast as the hub.
    pub speed: Ratio,
    /// The smallest relative difference that these sets could have shown.
    pub smallest: f64,
}

/// Says in a word what an interval of ln(time / hub's time) means, when `delta` counts as no difference.
pub fn word(interval: Interval, delta: f64) -> Word {
    let Interval { mean, half } = interval;
    let (low, high, same) = (mean - half, mean + half, delta.ln_1p());
    if low > FLOOR {
        Word::Slower
    } else if high < -FLOOR {
        Word::Faster
    } else if -same < low && high < same {
        Word::Same
    } else {
        Word::Inconclusive
    }
}

impl Rounds {
    /// ln(time / hub's time) with its interval; `None` below six sets.
    pub fn to_hub_interval(&self) -> Option<Interval> {
        decided(&self.to_hub, self.alpha)
    }

    /// ln(limit's time / time) with its interval.
    pub fn share_interval(&self) -> Option<Interval> {
        let limit = self.limit.as_ref()?;
        let values: Vec<f64> =
            limit.to_hub.iter().zip(&self.to_hub).map(|(limit, own)| limit - own).collect();
        decided(&values, self.alpha)
    }

    /// ln(speed / other's speed) in the sets that both took part in; `None` where the two had different hubs.
    fn ahead_of(&self, other: &Rounds) -> Option<Vec<f64>> {
        let pairs = self.to_hub.iter().zip(&other.to_hub);
        (self.hub == other.hub).then(|| pairs.map(|(own, other)| other - own).collect())
    }

    /// The comparison with the hub; `None` below six sets, and where the hub itself came to nothing.
    pub fn comparison(&self) -> Option<Comparison> {
        let interval = self.to_hub_interval().filter(|_| self.ended != Ended::HubFailed)?;
        let speed = Ratio::of(Interval { mean: -interval.mean, ..interval });
        Some(Comparison {
            word: word(interval, self.delta),
            speed,
            smallest: stats::smallest_effect(&self.to_hub, self.alpha).unwrap_or(f64::INFINITY).exp_m1(),
        })
    }
}

/// How far ahead one row of a case is of another, in the sets that both took part in.
#[derive(Clone, Debug, PartialEq)]
pub struct Lead {
    /// ln(speed / other's speed), a value for each set.
    pub values: Vec<f64>,
    pub alpha: f64,
}

impl Lead {
    /// The geometric mean over cases of one run: a set is a start of its own in all of them.
    pub fn mean(leads: &[Lead]) -> Option<Lead> {
        let alpha = leads.iter().map(|lead| lead.alpha).reduce(f64::min)?;
        let series: Vec<Vec<f64>> = leads.iter().map(|lead| lead.values.clone()).collect();
        Some(Lead { values: stats::mean_of_series(&series), alpha })
    }

    /// How many times as fast; `None` below six sets.
    pub fn ratio(&self) -> Option<Ratio> {
        decided(&self.values, self.alpha).map(Ratio::of)
    }
}

/// Lets rows say that their hub failed where its own record does, and have no limit whose probe failed: a row
/// may be finished before either, and nothing is compared with a row that has no time.
pub fn drop_failed_hubs(records: &mut [Record]) {
    let key = |record: &Record, implementation: &str| {
        (record.run.clone(), record.case.clone(), implementation.to_owned())
    };
    let failed: BTreeSet<_> = records
        .iter()
        .filter(|record| record.status != Status::Ok)
        .map(|record| key(record, &record.implementation))
        .collect();
    for record in records.iter_mut() {
        let Some(mut rounds) = record.rounds.take() else { continue };
        if failed.contains(&key(record, &rounds.hub)) {
            rounds.ended = Ended::HubFailed;
        }
        rounds.limit = rounds.limit.filter(|limit| !failed.contains(&key(record, &limit.probe)));
        record.rounds = Some(rounds);
    }
}

fn decided(values: &[f64], alpha: f64) -> Option<Interval> {
    if values.len() < FEWEST_SETS { None } else { stats::t_interval(values, alpha) }
}

impl Record {
    /// How far this row is ahead of another of its case; `None` where they were not measured in the same sets.
    pub fn lead_over(&self, other: &Record) -> Option<Lead> {
        let (own, base) = (self.rounds.as_ref()?, other.rounds.as_ref()?);
        // A row that was measured anew began in a later set; the hub is beside every row in all of its sets.
        let first = |record: &Record| record.samples.first().map(|sample| sample.set);
        let is_beside = own.hub == other.implementation || base.hub == self.implementation;
        let is_together =
            self.run == other.run && self.case == other.case && (is_beside || first(self) == first(other));
        let values = own.ahead_of(base).filter(|_| is_together)?;
        Some(Lead { values, alpha: own.alpha.min(base.alpha) })
    }

    /// Share of the measured limit, and which limit; short launches show none.
    pub fn of_limit(&self) -> Option<(Ratio, Limiter)> {
        let rounds = self.rounds.as_ref()?;
        let limit = rounds.limit.as_ref()?;
        self.median().filter(|median| median.0 >= SHORTEST_SHARE)?;
        (limit.probe != self.implementation)
            .then(|| rounds.share_interval().map(|interval| (Ratio::of(interval), limit.by)))?
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::{Course, Kind};
    use crate::units::Seconds;

    /// Rounds beside a hub that came to their end.
    pub(crate) fn rounds(hub: &str, to_hub: Vec<f64>) -> Rounds {
        let no_time = Seconds(0.0);
        let course =
            Course { kind: Kind::Long, warmup: 0, samples: 1, batch: 1, block: no_time, timer: no_time };
        let hub = hub.to_owned();
        let ended = Ended::Decided;
        Rounds { hub, to_hub, limit: None, course, alpha: ALPHA, delta: 0.01, ended, before: None }
    }

    #[test]
    fn looks_spend_one_error_probability() {
        assert_eq!(look(5, true), None);
        assert_eq!(look(6, false), Some(0.002));
        assert_eq!(look(7, false), None);
        assert_eq!(look(6, true), Some(0.01));
        assert!((look(9, true).unwrap() - 0.008).abs() < 1e-12);
        assert_eq!(look(12, false), Some(0.003));
        assert!((look(24, false).unwrap() - 0.005).abs() < 1e-12);
        assert_eq!(look(25, false), look(24, true));
    }

    #[test]
    fn rows_of_a_case_compare_through_their_hub() {
        // The machine's moods are in both and go out; the seventh set has no partner.
        let moods = [0.3, -0.2, 0.1, 0.0, -0.4, 0.2, 0.5];
        let slow = rounds("hub", moods.to_vec());
        let fast = rounds("hub", moods[..6].iter().map(|mood| mood - 2.0_f64.ln()).collect());
        assert!(fast.comparison().is_some());
        assert!(Rounds { ended: Ended::HubFailed, ..fast.clone() }.comparison().is_none());
        let row = |rounds: &Rounds, first: u32| {
            let mut record = crate::decision::tests::rows(&[0.0]).remove(0);
            record.samples = vec![crate::record::Sample { set: first, visit: 0, batch: 1, nanoseconds: 1.0 }];
            record.rounds = Some(rounds.clone());
            record
        };
        let lead = row(&fast, 0).lead_over(&row(&slow, 0)).unwrap();
        let speed = lead.ratio().unwrap();
        assert!((speed.value - 2.0).abs() < 1e-12 && speed.half_width() < 1e-12, "{speed:?}");
        assert_eq!(Lead::mean(&[lead.clone(), lead.clone()]), Some(lead));
        assert_eq!(row(&fast, 3).lead_over(&row(&slow, 0)), None, "one was measured anew");
        let mut hub = row(&slow, 0);
        hub.implementation = "hub".to_owned();
        assert!(row(&fast, 3).lead_over(&hub).is_some(), "the hub was there all the time");
        assert_eq!(row(&fast, 0).lead_over(&row(&rounds("another", moods.to_vec()), 0)), None);
        let few = row(&fast, 0).lead_over(&row(&rounds("hub", moods[..5].to_vec()), 0)).unwrap();
        assert_eq!(few.ratio(), None);
    }

    #[test]
    fn words() {
        let word = |mean, half| word(Interval { mean, half }, 0.01);
        assert_eq!(word(0.02, 0.01), Word::Slower);
        assert_eq!(word(-0.02, 0.01), Word::Faster);
        assert_eq!(word(0.0, 0.005), Word::Same);
        assert_eq!(word(0.0, 0.02), Word::Inconclusive);
        // Sure to be different, and by less than anybody should care about.
        assert_eq!(word(0.002, 0.0001), Word::Same);
    }
}
