//! Targets: what a suite wants of its rows, and whether they reach it.
//!
//! A target names cases, whose time is meant, and what it is held against. It is *met* where that is sure in every case,
//! *missed* where the contrary is sure in one of them, and else *undecided*: sure is 99 % over all cases of it together.

use crate::decision::chance_above;
use crate::names::{is_limit, matches};
use crate::record::{Record, Status};
use crate::stats::t_interval;
use crate::verdict::{ALPHA, FEWEST_SETS, Lead, Ratio};
use std::collections::BTreeMap;
use std::fmt;

/// One thing that a suite wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub id: String,
    pub about: String,
    /// Globs of case ids.
    pub cases: Vec<String>,
    /// Whose time: the fastest of these.
    pub of: Who,
    /// What it is held against: the fastest of these.
    pub against: Who,
    pub metric: Metric,
    /// Times as much as that.
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    pub over: Over,
    pub severity: Severity,
}

/// Some rows of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Those that work with one thread, or with several.
    Serial,
    Parallel,
    /// The probe of what the hardware can do.
    Limit,
    /// A provider, or a glob of implementations.
    Named(String),
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Launches in the same time.
    Speed,
    /// Peak memory of the process.
    Memory,
}

/// Whether every case counts for itself, one of them is enough, or their geometric mean counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Each,
    Any,
    Mean,
}

/// When one of two implementations is to be taken although the other is faster, because it is simpler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Fewer times as fast than this is no reason for more code; in between somebody has to weigh it.
    pub negligible: f64,
    /// More times as fast than this is one.
    pub significant: f64,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { negligible: 1.05, significant: 1.10 }
    }
}

/// What a miss means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It is said.
    Info,
    /// The run fails.
    Fail,
}

/// Whether a target is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Met,
    Missed,
    Undecided,
}

impl Standing {
    pub fn name(self) -> &'static str {
        match self {
            Standing::Met => "met",
            Standing::Missed => "missed",
            Standing::Undecided => "undecided",
        }
    }
}

/// A target, and what was found of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    pub target: Target,
    pub standing: Standing,
    /// Cases in which both sides have a time.
    pub cases: usize,
    /// What decides: the case that is furthest from it, or the mean of all.
    pub found: Option<Found>,
}

/// How many times as much one side has as the other, and in which rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub ratio: Ratio,
    /// `None` for the mean of several cases.
    pub rows: Option<(String, String)>,
}

impl Reached {
    /// Whether a run fails by it.
    pub fn fails(&self) -> bool {
        self.standing == Standing::Missed && self.target.severity == Severity::Fail
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Who::Serial => "serial",
            Who::Parallel => "parallel",
            Who::Limit => "limit",
            Who::Named(name) => name,
        })
    }
}

impl From<&str> for Who {
    fn from(text: &str) -> Who {
        match text {
            "serial" => Who::Serial,
            "parallel" => Who::Parallel,
            "limit" => Who::Limit,
            name => Who::Named(name.to_owned()),
        }
    }
}

impl Who {
    fn is(&self, record: &Record) -> bool {
        let name = &record.implementation;
        match self {
            Who::Limit => is_limit(name),
            _ if is_limit(name) => false,
            Who::Serial => record.evidence.threads == 1,
            Who::Parallel => record.evidence.threads > 1,
            Who::Named(pattern) if pattern.contains(['/', '*']) => matches(pattern, name),
            Who::Named(provider) => name.split('/').next() == Some(provider),
        }
    }
}

impl Target {
    /// What is wanted, in words.
    pub fn wants(&self) -> String {
        let bounds = match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => String::new(),
        };
        let metric = match self.metric {
            Metric::Speed => "as fast as",
            Metric::Memory => "the memory of",
        };
        format!("{bounds} times {metric} {}", self.against)
    }

    /// Whether it wants something of this case.
    pub fn is_about(&self, case: &str) -> bool {
        self.cases.iter().any(|glob| matches(glob, case))
    }

    /// How well some rows reach it.
    pub fn reach(&self, records: &[Record]) -> Reached {
        let all = self.pairs(records);
        let mut pairs: Vec<Pair> = all.iter().flatten().cloned().collect();
        let (cases, is_whole) = (pairs.len(), pairs.len() == all.len());
        if self.over == Over::Mean {
            pairs = mean(&pairs).into_iter().collect();
        }
        let judged: Vec<(Standing, f64, Found)> =
            pairs.iter().filter_map(|pair| self.judge(pair, pairs.len())).collect();
        let stands = |wanted: Standing| judged.iter().filter(|(standing, ..)| *standing == wanted).count();
        let is_all = |count: usize| is_whole && count > 0 && count == pairs.len();
        let (is_missed, is_met) = match self.over {
            Over::Any => (is_all(stands(Standing::Missed)), stands(Standing::Met) > 0),
            Over::Each => (stands(Standing::Missed) > 0, is_all(stands(Standing::Met))),
            // The mean of a part is not that of all.
            Over::Mean => (is_all(stands(Standing::Missed)), is_all(stands(Standing::Met))),
        };
        let standing = match (is_missed, is_met) {
            (true, _) => Standing::Missed,
            (_, true) => Standing::Met,
            _ => Standing::Undecided,
        };
        // Where one is enough, the best of them decides; else the worst.
        let sign = if self.over == Over::Any { -1.0 } else { 1.0 };
        let first = |one: f64, other: f64| (sign * one).total_cmp(&(sign * other));
        let decides = judged.into_iter().min_by(|(_, one, _), (_, other, _)| first(*one, *other));
        Reached { target: self.clone(), standing, cases, found: decides.map(|(.., found)| found) }
    }

    /// Both sides of each case that has rows of one; `None` where they cannot be compared.
    fn pairs(&self, records: &[Record]) -> Vec<Option<Pair>> {
        let mut by_case: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for record in records {
            if self.is_about(&record.case) {
                by_case.entry(&record.case).or_default().push(record);
            }
        }
        by_case.into_values().map(|records| self.pair(&records)).collect()
    }

    fn pair(&self, records: &[&Record]) -> Option<Pair> {
        let timed = || records.iter().copied().filter(|record| record.status == Status::Ok);
        let others: Vec<&Record> = timed().filter(|record| self.against.is(record)).collect();
        // Whoever is compared with a provider is somebody else.
        let own = timed().filter(|record| self.of.is(record) && !self.against.is(record));
        let own: Vec<&Record> = own.collect();
        let (one, other) = (fastest(&own)?, fastest(&others)?);
        let lead = match self.metric {
            Metric::Speed => one.lead_over(other)?,
            Metric::Memory => {
                let [own, other] = [one, other].map(|row| row.evidence.peak_memory.map(|peak| peak.0 as f64));
                // One reading each: it stands as it is, and reports say so.
                Lead { values: vec![(own? / other?.max(1.0)).ln(); FEWEST_SETS], alpha: ALPHA }
            }
        };
        let rows = Some((one.row(), other.implementation.clone()));
        Some(Pair { lead, candidates: own.len() * others.len(), rows })
    }

    /// Where one pair of `of` stands, and how far it is on the right side.
    fn judge(&self, pair: &Pair, of: usize) -> Option<(Standing, f64, Found)> {
        let Pair { lead: Lead { values, alpha }, candidates, rows } = pair;
        // The fastest were chosen by the times that are judged here.
        let sure = ALPHA / *candidates as f64;
        let interval = t_interval(values, *alpha).filter(|_| values.len() >= FEWEST_SETS)?;
        let turned: Vec<f64> = values.iter().map(|value| -value).collect();
        let mut standing = Standing::Met;
        let mut distance = f64::INFINITY;
        let sides = [(self.at_least, values, &turned, 1.0), (self.at_most, &turned, values, -1.0)];
        for (bound, wanted, unwanted, sign) in sides {
            let Some(bound) = bound.map(|bound| sign * bound.ln()) else { continue };
            // What holds of all cases is as sure as the least of them; what holds of one needs its share.
            let share = sure / of as f64;
            let (met, missed) = if self.over == Over::Any { (share, sure) } else { (sure, share) };
            let is_met = chance_above(wanted, *alpha, bound) <= met;
            let is_missed = chance_above(unwanted, *alpha, -bound) <= missed;
            distance = distance.min(sign * interval.mean - bound);
            standing = match standing {
                _ if is_missed => Standing::Missed,
                Standing::Met if !is_met => Standing::Undecided,
                so_far => so_far,
            };
        }
        Some((standing, distance, Found { ratio: Ratio::of(interval), rows: rows.clone() }))
    }
}

/// Two sides of a case.
#[derive(Clone)]
struct Pair {
    lead: Lead,
    /// Ways to choose the two.
    candidates: usize,
    rows: Option<(String, String)>,
}

fn mean(pairs: &[Pair]) -> Option<Pair> {
    let leads: Vec<Lead> = pairs.iter().map(|pair| pair.lead.clone()).collect();
    let candidates = pairs.iter().map(|pair| pair.candidates).max()?;
    Some(Pair { lead: Lead::mean(&leads)?, candidates, rows: None })
}

fn fastest<'a>(records: &[&'a Record]) -> Option<&'a Record> {
    let timed = records.iter().filter_map(|record| Some((record.median()?.0, *record)));
    timed.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, record)| record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::tests::rows;
    use crate::suite::Suite;
    use crate::units::Bytes;

    /// Targets that stand behind one block of cases.
    fn targets(text: &str) -> Vec<Target> {
        let cases = "[[cases]]\noperation = 'add'\ndtype = 'f32'\naxes = { rows = 1, cols = 1 }\n";
        Suite::parse(&format!("{cases}{text}")).unwrap().targets
    }

    fn target(rest: &str) -> Target {
        targets(&format!("[[targets]]\nid = 'x'\ncases = '*'\n{rest}")).remove(0)
    }

    /// A row of some case that takes `slower` longer than the hub, with a scatter of a percent.
    fn row(case: &str, implementation: &str, threads: u32, slower: f64) -> Record {
        let mut record = rows(&[slower]).remove(0);
        case.clone_into(&mut record.case);
        implementation.clone_into(&mut record.implementation);
        record.evidence.threads = threads;
        record.evidence.peak_memory = Some(Bytes(1000 * u64::from(threads)));
        let nanoseconds = 1000.0 * (1.0 + slower);
        record.samples = vec![crate::record::Sample { set: 0, visit: 0, batch: 1, nanoseconds }];
        record
    }

    #[test]
    fn met_missed_and_undecided() {
        // Serial takes twice as long as parallel, in another scatter.
        let mut records = vec![row("add/a", "cpu/plain", 1, 1.0), row("add/a", "cpu/parallel", 2, 0.0)];
        let shift = |(set, value): (usize, &mut f64)| *value += 0.01 * f64::from(set as u32 % 3);
        records[1].rounds.as_mut().unwrap().to_hub.iter_mut().enumerate().for_each(shift);
        let standing = |rest: &str| target(rest).reach(&records).standing;
        let pays = "of = 'parallel'\nagainst = 'serial'\n";
        assert_eq!(standing(&format!("{pays}at-least = 1.9")), Standing::Met);
        assert_eq!(standing(&format!("{pays}at-least = 2.1")), Standing::Missed);
        assert_eq!(standing(&format!("{pays}at-least = 1.98")), Standing::Undecided);
        assert_eq!(standing(&format!("{pays}at-most = 2.1")), Standing::Met);
        assert_eq!(standing(&format!("{pays}at-least = 1.5\nat-most = 1.9")), Standing::Missed);
        assert_eq!(standing("against = 'torch'\nat-least = 1"), Standing::Undecided, "nobody is there");
        assert_eq!(standing(&format!("{pays}metric = 'memory'\nat-most = 2.5")), Standing::Met);
        assert_eq!(standing(&format!("{pays}metric = 'memory'\nat-most = 1.5")), Standing::Missed);

        let reached = target(&format!("{pays}at-least = 2.1")).reach(&records);
        assert!(reached.fails());
        let found = reached.found.unwrap();
        assert_eq!(found.rows, Some(("add/a@cpu/parallel".to_owned(), "cpu/plain".to_owned())));
        assert!((1.9..2.05).contains(&found.ratio.value), "{found:?}");
        assert!(!target(&format!("{pays}at-least = 2.1\nseverity = 'info'")).reach(&records).fails());
    }

    #[test]
    fn one_case_misses_a_target_of_each_and_not_that_of_the_mean() {
        let case =
            |name: &str, slower: f64| [row(name, "cpu/plain", 1, slower), row(name, "torch/own", 1, 0.0)];
        let records: Vec<Record> = [case("add/a", 1.0), case("add/b", -0.6)].concat();
        let of = |over: &str| {
            let wanted = format!("against = 'torch'\nat-least = 0.9\nover = '{over}'");
            target(&wanted).reach(&records)
        };
        assert_eq!((of("each").standing, of("each").cases), (Standing::Missed, 2));
        assert_eq!(of("each").found.unwrap().rows.unwrap().0, "add/a@cpu/plain");
        assert_eq!((of("mean").standing, of("mean").found.unwrap().rows), (Standing::Met, None));
        let mut part = [case("add/a", 1.0), case("add/b", 1.0)].concat();
        let mean = target("against = 'torch'\nat-least = 0.9\nover = 'mean'");
        assert_eq!(mean.reach(&part).standing, Standing::Missed);
        part.pop();
        assert_eq!(mean.reach(&part).standing, Standing::Undecided, "one case lacks a side");
    }

    #[test]
    fn one_case_is_enough_where_any_is_wanted() {
        let case =
            |name: &str, slower: f64| [row(name, "cpu/plain", 1, slower), row(name, "torch/own", 1, 0.0)];
        let faster = target("against = 'torch'\nat-least = 1.0\nover = 'any'");
        let reach = |records: Vec<Record>| faster.reach(&records);
        let met = reach([case("add/a", 1.0), case("add/b", -0.6)].concat());
        assert_eq!(met.standing, Standing::Met);
        assert_eq!(met.found.unwrap().rows.unwrap().0, "add/b@cpu/plain", "the one that decides");
        assert_eq!(reach([case("add/a", 1.0), case("add/b", 0.5)].concat()).standing, Standing::Missed);
        assert_eq!(reach([case("add/a", 1.0), case("add/b", 0.0)].concat()).standing, Standing::Undecided);
    }

    #[test]
    fn rows_without_a_time_and_probes_are_nobody() {
        let mut wrong = row("add/a", "torch/own", 1, 0.0);
        wrong.status = Status::Wrong;
        let records = [row("add/a", "cpu/plain", 1, 0.0), wrong, row("add/a", "limit/traffic-1", 1, -0.5)];
        let reached = |rest: &str| target(rest).reach(&records);
        assert_eq!(reached("against = 'torch'\nat-least = 0.1").found, None);
        // A case of which one side is missing is not met.
        let mut two = vec![row("add/b", "cpu/plain", 1, 0.0), row("add/b", "torch/own", 1, 0.5)];
        let wanted = target("against = 'torch'\nat-least = 0.9");
        assert_eq!(wanted.reach(&two).standing, Standing::Met);
        two.extend(records.iter().cloned());
        assert_eq!((wanted.reach(&two).standing, wanted.reach(&two).cases), (Standing::Undecided, 1));
        let share = reached("against = 'limit'\nat-least = 0.4");
        assert_eq!(share.standing, Standing::Met);
        assert!((share.found.unwrap().ratio.value - 0.5).abs() < 1e-9);
    }

    #[test]
    fn mistakes_in_targets_are_told() {
        let error = |rest: &str| {
            let text = format!(
                "[[cases]]\noperation = 'add'\ndtype = 'f32'\naxes = {{ rows = 1, cols = 1 }}\n[[targets]]\n{rest}"
            );
            Suite::parse(&text).unwrap_err()
        };
        let good = "id = 'x'\ncases = '*'\nagainst = 'limit'\n";
        for (rest, why) in [
            ("id = 'x'\nagainst = 'limit'\nat-least = 1".to_owned(), "lacks `cases`"),
            (good.to_owned(), "lacks `at-least` or `at-most`"),
            (format!("{good}at-least = 2\nat-most = 1"), "at least 2 and at most 1"),
            (format!("{good}at-least = 0"), "a number above zero"),
            (format!("{good}at-least = nan"), "a number above zero"),
            (format!("{good}at_least = 1"), "unknown key `at_least`"),
            (format!("{good}at-least = 1\nseverity = 'fial'"), "unknown word `fial`"),
            (format!("{good}at-least = 1\n[[targets]]\n{good}at-least = 2"), "two targets"),
        ] {
            let error = error(&rest);
            assert!(error.why.contains(why) && error.span.is_some(), "{rest}: {error:?}");
        }
    }
}
