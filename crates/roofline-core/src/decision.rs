//! What of its comparisons lets a run fail, over all rows together.
//!
//! A verdict on one row is wrong once in a hundred; of a hundred rows one would be. So what lets a run fail holds with
//! the same probability for all rows of it together, by Holm's procedure: the surest row first, each held to its part.

use crate::names::{is_limit, names};
use crate::record::{Record, Rounds, Status};
use crate::stats;
use crate::verdict::{ALPHA, FEWEST_SETS, FLOOR, Word};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What a run fails on, beside rows that fail themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FailOn {
    /// A row that is slower than what it is compared with, for sure by more than this share.
    Slower(f64),
    /// A row of which it is not known that it is as fast: one that is slower as well.
    Inconclusive,
    /// A target of the suite that is missed, which is no row's own.
    Missed,
    /// What breaks a rule of the repository's policy.
    Policy,
}

/// What `--fail-on` was given instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither `slower`, `slower=2%`, `inconclusive`{1}")]
pub struct FailOnError(String, &'static str);

impl FromStr for FailOn {
    type Err = FailOnError;

    fn from_str(text: &str) -> Result<FailOn, FailOnError> {
        let wrong = || FailOnError(text.to_owned(), ", `missed` nor `policy`");
        match text.split_once('=') {
            None if text == "slower" => Ok(FailOn::Slower(0.0)),
            None if text == "inconclusive" => Ok(FailOn::Inconclusive),
            None if text == "missed" => Ok(FailOn::Missed),
            None if text == "policy" => Ok(FailOn::Policy),
            Some(("slower", share)) => parse_share(share).map(FailOn::Slower).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }
}

impl FailOn {
    /// What fails by its comparison with another, as in benches, which have neither targets nor a policy.
    pub fn of_bench(text: &str) -> Result<FailOn, FailOnError> {
        let wrong = FailOnError(text.to_owned(), " nor anything else: a bench has no targets and no policy");
        text.parse().ok().filter(|what| !matches!(what, FailOn::Policy | FailOn::Missed)).ok_or(wrong)
    }

    /// The same as in `ab`, which has no targets.
    pub fn of_ab(text: &str) -> Result<FailOn, FailOnError> {
        let wrong = FailOnError(text.to_owned(), " nor `policy`; targets are for `roofline run`");
        text.parse().ok().filter(|what| *what != FailOn::Missed).ok_or(wrong)
    }
}

/// A share that is written as `5%`. More than a thousand times as much is a slip of the keyboard.
pub fn parse_share(text: &str) -> Option<f64> {
    let percent: f64 = text.strip_suffix('%')?.parse().ok()?;
    (0.0..=1e5).contains(&percent).then_some(percent / 100.0)
}

/// A share in percent, without the dust of binary fractions.
pub(crate) fn percent(share: f64) -> f64 {
    (1e8 * share).round() / 1e6
}

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailOn::Slower(0.0) => write!(f, "slower"),
            FailOn::Slower(share) => write!(f, "slower by more than {} %", percent(*share)),
            FailOn::Inconclusive => write!(f, "inconclusive"),
            FailOn::Missed => write!(f, "missed"),
            FailOn::Policy => write!(f, "policy"),
        }
    }
}

impl FailOn {
    /// As `--fail-on` is given it.
    pub fn words(&self) -> String {
        match self {
            FailOn::Slower(0.0) => "slower".to_owned(),
            FailOn::Slower(share) => format!("slower={}%", percent(*share)),
            FailOn::Inconclusive => "inconclusive".to_owned(),
            FailOn::Missed => "missed".to_owned(),
            FailOn::Policy => "policy".to_owned(),
        }
    }
}

/// Whether a run would fail by these sets of one row: then they are taken again, by other processes, before it does.
pub fn calls_for_more(rounds: &Rounds, what: FailOn) -> bool {
    match what {
        FailOn::Slower(share) => chance(rounds, &rounds.to_hub, rounds.alpha, least(share)) <= ALPHA,
        FailOn::Inconclusive => !is_well(rounds),
        FailOn::Missed | FailOn::Policy => false,
    }
}

/// The rows that a run fails on: sure enough among all of them by their first sets, and again by those that were to
/// confirm it. Without the latter nobody is slower.
pub fn flagged<'a>(records: impl IntoIterator<Item = &'a Record>, what: FailOn) -> Vec<&'a Record> {
    match what {
        FailOn::Slower(_) => {
            let sure = sure_at_first(records, what).into_iter();
            sure.filter(|record| record.rounds.as_ref().is_some_and(|rounds| is_confirmed(rounds, what)))
                .collect()
        }
        FailOn::Inconclusive => {
            let is_well =
                |record: &Record| is_compared(record) && record.rounds.as_ref().is_some_and(is_well);
            compared(records).into_iter().filter(|record| !is_well(record)).collect()
        }
        FailOn::Missed | FailOn::Policy => Vec::new(),
    }
}

/// The rows that a run would fail on, had it had the time to measure them again.
pub fn unconfirmed<'a>(records: impl IntoIterator<Item = &'a Record>, what: FailOn) -> Vec<&'a Record> {
    let is_once = |record: &&Record| record.rounds.as_ref().is_some_and(|rounds| rounds.before.is_none());
    sure_at_first(records, what).into_iter().filter(is_once).collect()
}

/// The rows that are slower by their first sets, all of them together.
fn sure_at_first<'a>(records: impl IntoIterator<Item = &'a Record>, what: FailOn) -> Vec<&'a Record> {
    let FailOn::Slower(share) = what else { return Vec::new() };
    let compared = compared(records).into_iter().filter(|record| is_compared(record));
    let first = |record: &Record| record.rounds.as_ref().map_or(1.0, |rounds| first(rounds, least(share)));
    holm(compared.map(|record| (record, first(record))).collect())
}

/// Whether the sets that were taken again say so too.
fn is_confirmed(rounds: &Rounds, what: FailOn) -> bool {
    rounds.before.is_some() && calls_for_more(rounds, what)
}

/// Logarithm of the ratio of times above which a row is slower by more than a share.
fn least(share: f64) -> f64 {
    share.ln_1p().max(FLOOR)
}

/// Whether sets show that a row is as fast, or faster.
fn is_well(rounds: &Rounds) -> bool {
    rounds.comparison().is_some_and(|comparison| matches!(comparison.word, Word::Same | Word::Faster))
}

/// Fewest rows of which it is no chance that all differ in one direction.
const MANY_ALIKE: usize = 5;

/// The direction in which all rows differ that do, where they are many: rather the machine or the build than a kernel.
pub fn one_way<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<Word> {
    let words = compared(records).into_iter().filter_map(word);
    let differing: Vec<Word> = words.filter(|word| matches!(word, Word::Faster | Word::Slower)).collect();
    let first = *differing.first()?;
    (differing.len() >= MANY_ALIKE && differing.iter().all(|word| *word == first)).then_some(first)
}

/// What to make of it that all rows that differ do so in one direction.
pub fn alarm(word: Word) -> String {
    let word = word.name();
    format!(
        "every row that differs is {word}: look first for what they share, the machine, the build, what else runs"
    )
}

/// The rows with a time by whose comparisons a run is decided: those that were to be compared, whatever came of it. Where a
/// provider stands against another, its fastest of a case against the other's fastest.
pub fn compared<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<&'a Record> {
    let records: Vec<&Record> = records.into_iter().collect();
    // Records of before do not say what was to be compared.
    if records.iter().all(|record| record.against.is_none()) {
        return records.into_iter().filter(|record| is_compared(record)).collect();
    }
    let mut asked = records;
    asked.retain(|record| record.against.is_some() && record.status == Status::Ok);
    let mut fastest: BTreeMap<(&str, &str, &str), (f64, usize)> = BTreeMap::new();
    for (index, record) in asked.iter().enumerate().filter(|(_, record)| is_for_its_provider(record)) {
        let Some(time) = record.median() else { continue };
        let best = fastest.entry(among(record)).or_insert((time.0, index));
        if time.0 < best.0 {
            *best = (time.0, index);
        }
    }
    let is_fastest = |(index, record): &(usize, &Record)| {
        let best = fastest.get(&among(record)).filter(|_| is_for_its_provider(record));
        best.is_none_or(|(_, best)| best == index)
    };
    asked.iter().copied().enumerate().filter(is_fastest).map(|(_, record)| record).collect()
}

/// Whether a row is held against a provider, and not against an implementation.
fn is_for_its_provider(record: &Record) -> bool {
    record.against.as_ref().is_some_and(|against| !against.contains(['/', '*']))
}

/// Those that a provider has several of: the run, the case, and the provider.
fn among(record: &Record) -> (&str, &str, &str) {
    let provider = record.implementation.split('/').next().unwrap_or_default();
    (&record.run, &record.case, provider)
}

/// A row with a time that was to be compared, and is not.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncompared<'a> {
    pub row: &'a Record,
    pub why: String,
    /// Whether what it was to be compared with is wrong: a row that is right has no time to beat.
    pub is_mended: bool,
}

/// The rows among `own` that were to be compared with others of `all`, and are not.
pub fn uncompared<'a>(own: &[&'a Record], all: &[Record]) -> Vec<Uncompared<'a>> {
    let rows = compared(own.iter().copied()).into_iter().filter(|row| word(row).is_none());
    rows.map(|row| {
        let hubs: Vec<&Record> = hubs(row, all).collect();
        let is_wrong = |hub: &&Record| hub.status == Status::Wrong;
        let why = match hubs.iter().find(|hub| hub.status != Status::Ok) {
            Some(hub) if !hubs.iter().any(|hub| hub.status == Status::Ok) => {
                format!("`{}` is {}", hub.implementation, hub.status)
            }
            _ => "there were too few sets".to_owned(),
        };
        Uncompared { row, why, is_mended: !hubs.is_empty() && hubs.iter().all(is_wrong) }
    })
    .collect()
}

/// The rows among `own` that say no where what they were to be compared with has a time.
pub fn withdrawn<'a>(own: &[&'a Record], all: &[Record]) -> Vec<&'a Record> {
    let says_no = |row: &Record| matches!(row.status, Status::Unsupported | Status::Refused);
    let has_time = |row: &Record| hubs(row, all).any(|hub| hub.status == Status::Ok);
    own.iter().copied().filter(|row| says_no(row) && has_time(row)).collect()
}

/// Rows that would let a run fail by themselves, and among all its rows are not sure enough.
pub fn sure_alone<'a>(records: impl IntoIterator<Item = &'a Record>, what: FailOn) -> Vec<&'a Record> {
    let rows = compared(records);
    let holds = |rows: &[&'a Record]| {
        let once = unconfirmed(rows.iter().copied(), what);
        flagged(rows.iter().copied(), what).into_iter().chain(once).collect::<Vec<_>>()
    };
    let together = holds(&rows);
    let is_dropped = |row: &&'a Record| {
        !holds(&[*row]).is_empty() && !together.iter().any(|other| std::ptr::eq(*other, *row))
    };
    rows.iter().copied().filter(is_dropped).collect()
}

/// What a row was to be compared with.
fn hubs<'a>(row: &'a Record, all: &'a [Record]) -> impl Iterator<Item = &'a Record> {
    let is_hub = move |other: &&Record| {
        let is_named = |against: &String| names(against, &other.implementation);
        other.run == row.run && other.case == row.case && row.against.as_ref().is_some_and(is_named)
    };
    all.iter().filter(is_hub)
}

/// Whether a row has a time and stands beside another that was asked for.
fn is_compared(record: &Record) -> bool {
    hub_of(record).is_some()
}

/// The implementation that a row with a time was asked to be compared with.
pub(crate) fn hub_of(record: &Record) -> Option<&str> {
    let hub = record.rounds.as_ref().map(|rounds| rounds.hub.as_str())?;
    let is_asked = record.against.as_ref().is_none_or(|against| names(against, hub));
    let is_beside = !hub.is_empty() && !is_limit(hub) && hub != record.implementation && is_asked;
    (record.status == Status::Ok && is_beside && !is_limit(&record.implementation)).then_some(hub)
}

/// How a row compares with what was asked for; rows beside their limit alone have no such word.
pub fn word(record: &Record) -> Option<Word> {
    let rounds = record.rounds.as_ref().filter(|_| is_compared(record))?;
    rounds.comparison().map(|comparison| comparison.word)
}

/// The chance of a row's first sets.
fn first(rounds: &Rounds, least: f64) -> f64 {
    match &rounds.before {
        Some(before) => chance(rounds, &before.to_hub, before.alpha, least),
        None => chance(rounds, &rounds.to_hub, rounds.alpha, least),
    }
}

/// The chance that a row no slower than `least` looks as slow as in these sets, for all looks at them together: the
/// interval of the verdict has it exactly at its error probability.
fn chance(rounds: &Rounds, to_hub: &[f64], alpha: f64, least: f64) -> f64 {
    if rounds.comparison().is_none() { 1.0 } else { chance_above(to_hub, alpha, least) }
}

/// The chance that values whose mean is no more than `least` look like these, after looks of which the last has `alpha`.
pub(crate) fn chance_above(values: &[f64], alpha: f64, least: f64) -> f64 {
    if values.len() < FEWEST_SETS {
        return 1.0;
    }
    2.0 * stats::chance_above(values, least).unwrap_or(1.0) * ALPHA / alpha
}

/// Those that hold together with [`ALPHA`].
fn holm(mut rows: Vec<(&Record, f64)>) -> Vec<&Record> {
    let all = rows.len();
    rows.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let holds = |(index, (_, chance)): &(usize, (&Record, f64))| *chance <= ALPHA / (all - index) as f64;
    rows.into_iter().enumerate().take_while(holds).map(|(_, (record, _))| record).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::operation::Work;
    use crate::record::{Before, Ended, Evidence, Gate, Provenance, SCHEMA};
    use crate::verdict::tests::rounds;

    /// Rows that are slower by these shares on average, with a scatter of a percent over twelve sets, and were so before.
    pub(crate) fn rows(slower: &[f64]) -> Vec<Record> {
        let row = |slower: &f64| {
            let scatter = |set: i32| 0.01 * f64::from(set % 5 - 2);
            let to_hub: Vec<f64> = (0..12).map(|set| slower.ln_1p() + scatter(set)).collect();
            let before = Some(Before { to_hub: to_hub.clone(), alpha: ALPHA, spent: None });
            Record {
                schema: SCHEMA,
                id: String::new(),
                run: String::new(),
                at: String::new(),
                case: "add/f32/rows=1,cols=1".to_owned(),
                implementation: "mine/own".to_owned(),
                status: Status::Ok,
                why: String::new(),
                reproduce: String::new(),
                place: None,
                against: None,
                work: Work::default(),
                gate: Gate::default(),
                samples: Vec::new(),
                rounds: Some(Rounds { before, ..rounds("peer/fast", to_hub) }),
                evidence: Evidence::default(),
                provenance: Provenance::default(),
            }
        };
        slower.iter().map(row).collect()
    }

    #[test]
    fn what_a_run_fails_on_is_read_and_said() {
        assert_eq!("slower".parse(), Ok(FailOn::Slower(0.0)));
        assert_eq!("slower=2%".parse(), Ok(FailOn::Slower(0.02)));
        assert_eq!("inconclusive".parse(), Ok(FailOn::Inconclusive));
        assert_eq!("missed".parse(), Ok(FailOn::Missed));
        assert_eq!("policy".parse(), Ok(FailOn::Policy));
        for wrong in [
            "",
            "faster",
            "slower=",
            "slower=2",
            "slower=-1%",
            "slower=NaN%",
            "slower=1e9%",
            "inconclusive=1%",
        ] {
            assert!(wrong.parse::<FailOn>().is_err(), "{wrong}");
        }
        assert_eq!(FailOn::Slower(0.02).to_string(), "slower by more than 2 %");
        for words in ["slower", "slower=2%", "slower=0.5%", "inconclusive", "missed", "policy"] {
            assert_eq!(words.parse::<FailOn>().unwrap().words(), words);
        }
    }

    #[test]
    fn a_threshold_is_passed_by_the_whole_interval() {
        let count = |slower, share| flagged(&rows(&[slower]), FailOn::Slower(share)).len();
        assert_eq!((count(0.05, 0.0), count(0.05, 0.02), count(0.05, 0.045)), (1, 1, 0));
        assert_eq!((count(0.0, 0.0), count(-0.05, 0.0)), (0, 0));
    }

    #[test]
    fn one_row_alone_is_flagged_as_its_verdict_says() {
        for slower in [0.0, 0.005, 0.01, 0.0115, 0.012, 0.0125, 0.013, 0.02] {
            let row = rows(&[slower]);
            let is_slower = word(&row[0]) == Some(Word::Slower);
            assert_eq!(flagged(&row, FailOn::Slower(0.0)).len(), usize::from(is_slower), "{slower}");
        }
    }

    #[test]
    fn a_row_fails_a_run_only_when_its_second_sets_say_so_too() {
        let [slow, mut same] = [0.05, 0.0].map(|slower| rows(&[slower]).remove(0));
        // Wide enough for its scatter.
        same.rounds.as_mut().unwrap().delta = 0.03;
        let both = |first: &Record, second: &Record| {
            let mut record = second.clone();
            let before = first.rounds.as_ref().map(|rounds| (rounds.to_hub.clone(), rounds.alpha));
            let rounds = record.rounds.as_mut().unwrap();
            rounds.before = before.map(|(to_hub, alpha)| Before { to_hub, alpha, spent: None });
            flagged([&record], FailOn::Slower(0.0)).len()
        };
        assert_eq!([both(&slow, &slow), both(&slow, &same), both(&same, &slow)], [1, 0, 0]);
        let calls = |row: &Record, what| calls_for_more(row.rounds.as_ref().unwrap(), what);
        assert!(calls(&slow, FailOn::Slower(0.0)) && !calls(&same, FailOn::Slower(0.0)));
        assert!(calls(&slow, FailOn::Inconclusive) && !calls(&same, FailOn::Inconclusive));
    }

    #[test]
    fn what_was_not_measured_again_fails_no_run_and_is_told() {
        let mut records = rows(&[0.05, 0.0]);
        assert_eq!(unconfirmed(&records, FailOn::Slower(0.0)), [&records[0]; 0]);
        records.iter_mut().for_each(|record| record.rounds.as_mut().unwrap().before = None);
        assert_eq!(flagged(&records, FailOn::Slower(0.0)), [&records[0]; 0]);
        assert_eq!(unconfirmed(&records, FailOn::Slower(0.0)), [&records[0]]);
        // That it is as fast is not known either way.
        records.iter_mut().for_each(|record| record.rounds.as_mut().unwrap().delta = 0.03);
        assert_eq!(flagged(&records, FailOn::Inconclusive), [&records[0]]);
    }

    #[test]
    fn whoever_fails_on_what_is_not_known_fails_on_what_is_slower() {
        let with = |delta: f64| {
            let mut records = rows(&[0.05, 0.0, -0.05]);
            records.iter_mut().for_each(|record| record.rounds.as_mut().unwrap().delta = delta);
            records
        };
        let records = with(0.03);
        assert_eq!(flagged(&records, FailOn::Inconclusive), [&records[0]]);
        let records = with(0.001);
        assert_eq!(flagged(&records, FailOn::Inconclusive), [&records[0], &records[1]]);
    }

    #[test]
    fn of_many_rows_each_must_be_surer() {
        let slower = (1..100).map(|step| f64::from(step) / 1000.0);
        let barely = slower.clone().find(|slower| flagged(&rows(&[*slower]), FailOn::Slower(0.0)).len() == 1);
        let mut many = vec![barely.unwrap()];
        many.extend([0.0; 40]);
        assert_eq!(flagged(&rows(&many), FailOn::Slower(0.0)).len(), 0);
        let records = rows(&many);
        assert_eq!(sure_alone(&records, FailOn::Slower(0.0)), [&records[0]], "and that is said");
        many[0] = 0.1;
        let records = rows(&many);
        assert_eq!(flagged(&records, FailOn::Slower(0.0)), [&records[0]]);
        assert_eq!(sure_alone(&records, FailOn::Slower(0.0)), [&records[0]; 0]);
    }

    #[test]
    fn rows_beside_their_limit_alone_and_hubs_are_no_comparison() {
        let mut records = rows(&[0.5, 0.5, 0.5]);
        records[0].implementation = "peer/fast".to_owned();
        records[1].rounds.as_mut().unwrap().hub = "limit/traffic-copy".to_owned();
        records[2].rounds.as_mut().unwrap().ended = Ended::HubFailed;
        assert_eq!(flagged(&records, FailOn::Slower(0.0)), [&records[0]; 0]);
        // Nothing is known of a row whose hub came to nothing.
        assert_eq!(flagged(&records, FailOn::Inconclusive), [&records[2]]);
    }

    #[test]
    fn a_row_that_lost_what_it_was_to_be_compared_with_is_known_by_it() {
        let mut records = rows(&[0.0, 0.0, 0.0]);
        for record in &mut records[..2] {
            record.against = Some("peer/fast".to_owned());
            record.rounds.as_mut().unwrap().delta = 0.03;
        }
        records[2].implementation = "peer/fast".to_owned();
        let flags = |records: &[Record]| flagged(&records[..2], FailOn::Inconclusive).len();
        assert_eq!((flags(&records), uncompared(&[&records[0]], &records).len()), (0, 0));
        // It died before the rounds, and another was visited between the others.
        records[1].rounds.as_mut().unwrap().hub = "limit/traffic-copy".to_owned();
        assert_eq!(flagged(&records[..2], FailOn::Inconclusive), [&records[1]]);
        records[2].status = Status::Crashed;
        let told = |records: &[Record]| {
            let own: Vec<&Record> = records[..2].iter().collect();
            let lost = uncompared(&own, records);
            let all = lost.iter().all(|lost| std::ptr::eq(lost.row, &records[1]));
            lost.iter().filter(|_| all).map(|lost| (lost.why.clone(), lost.is_mended)).collect::<Vec<_>>()
        };
        assert_eq!(told(&records), [("`peer/fast` is crashed".to_owned(), false)]);
        records[2].status = Status::Wrong;
        assert_eq!(told(&records), [("`peer/fast` is wrong".to_owned(), true)]);
        // One that is visited because no other is left is not what was asked for.
        records[0].rounds.as_mut().unwrap().hub = "mine/other".to_owned();
        assert_eq!(word(&records[0]), None);
        // Rows that nobody asked about are beside the others, whatever they were measured beside.
        records[0].against = None;
        assert_eq!(flagged(&records[..2], FailOn::Inconclusive), [&records[1]]);
    }

    #[test]
    fn of_a_provider_the_fastest_is_held_against_the_other_s() {
        let mut records = rows(&[0.0, 0.5, 0.5]);
        for (record, (name, nanoseconds)) in
            records.iter_mut().zip([("a", 100.0), ("b", 150.0), ("c", 150.0)])
        {
            record.implementation = format!("mine/{name}");
            record.against = Some("peer".to_owned());
            record.samples = vec![crate::record::Sample { set: 0, visit: 0, batch: 1, nanoseconds }];
        }
        assert_eq!(compared(&records), [&records[0]]);
        assert_eq!(flagged(&records, FailOn::Slower(0.0)), [&records[0]; 0]);
        records[2].case = "add/f32/rows=2,cols=1".to_owned();
        assert_eq!(flagged(&records, FailOn::Slower(0.0)), [&records[2]], "the fastest of its case");
        records[1].against = Some("peer/fast".to_owned());
        assert_eq!(flagged(&records, FailOn::Slower(0.0)).len(), 2, "a row that is named stands for itself");
    }

    #[test]
    fn many_that_differ_in_one_way_are_told() {
        assert_eq!(one_way(&rows(&[0.1; 5])), Some(Word::Slower));
        assert_eq!(one_way(&rows(&[0.1; 4])), None);
        assert_eq!(one_way(&rows(&[0.1, 0.1, 0.1, 0.1, 0.1, -0.1])), None);
        assert_eq!(one_way(&rows(&[-0.1, -0.1, 0.0, -0.1, -0.1, -0.1])), Some(Word::Faster));
    }
}
