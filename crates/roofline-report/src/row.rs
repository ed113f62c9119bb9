//! What a record shows in one row, for every format alike.

use crate::Style;
use crate::derived::Derived;
use crate::figures;
use crate::notes::notes;
use crate::spread::{MEDIAN_ALPHA, Spread};
use crate::text::{Colour, NONE, count, escape, plural, shorten, spelled, width};
use roofline_core::case::Case;
use roofline_core::judge::Fault;
use roofline_core::names::is_limit;
use roofline_core::operation::RateUnit;
use roofline_core::record::{Grade, Limiter, Record, Sample, Status};
use roofline_core::stats::{median, median_interval, quantile};
use roofline_core::units::{BytesPerSecond, FlopsPerSecond, OpsPerSecond, Seconds};
use roofline_core::verdict::{Comparison, Ratio};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;

/// Longest status in a table, in columns; longer reasons stand below it.
pub(crate) const LONGEST_STATUS: usize = 48;
/// In less room than this a reason is not begun.
pub(crate) const LEAST_REASON: usize = 24;

/// A record with what follows from it.
pub(crate) struct Row<'a> {
    pub(crate) record: &'a Record,
    /// `None` when the id is not one, as an old or damaged store may have it.
    pub(crate) case: Option<Case>,
    // A row may have thousands of samples, and a dozen columns ask for their quantiles.
    sorted: OnceCell<Vec<f64>>,
    spread: OnceCell<Spread>,
    derived: OnceCell<Derived>,
}

/// One set of a row, for formats that have no room for its samples.
pub(crate) struct Set {
    pub(crate) launches: u64,
    /// Median of its samples, for one launch.
    pub(crate) nanoseconds: f64,
    /// Share of the limit in this set.
    pub(crate) share: Option<f64>,
}

/// What a row says for the rate: of traffic or of arithmetic, as its operation has it.
#[derive(Clone, Copy)]
pub(crate) enum Rate {
    Bytes(BytesPerSecond),
    Flops(FlopsPerSecond),
    /// Of whole numbers.
    Ops(OpsPerSecond),
}

impl Rate {
    pub(crate) fn value(self) -> f64 {
        match self {
            Rate::Bytes(rate) => rate.0,
            Rate::Flops(rate) => rate.0,
            Rate::Ops(rate) => rate.0,
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        match self {
            Rate::Bytes(_) => "B/s",
            Rate::Flops(_) => "FLOP/s",
            Rate::Ops(_) => "OP/s",
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            _ if !(1e-3..1e16).contains(&self.value()) => write!(f, "{:.2e} {}", self.value(), self.unit()),
            Rate::Bytes(rate) => write!(f, "{rate}"),
            Rate::Flops(rate) => write!(f, "{rate}"),
            Rate::Ops(rate) => write!(f, "{rate}"),
        }
    }
}

impl<'a> Row<'a> {
    pub(crate) fn new(record: &'a Record) -> Row<'a> {
        let case = record.case.parse().ok();
        Row { record, case, sorted: OnceCell::new(), spread: OnceCell::new(), derived: OnceCell::new() }
    }

    /// Samples in the order taken; numbers that are no times are left out.
    pub(crate) fn timed(&self) -> impl Iterator<Item = &'a Sample> {
        self.record
            .samples
            .iter()
            .filter(|sample| sample.per_launch().is_finite() && sample.nanoseconds >= 0.0)
    }

    /// Times of one launch in seconds, in the order taken.
    pub(crate) fn times(&self) -> Vec<f64> {
        self.timed().map(|sample| sample.per_launch() / 1e9).collect()
    }

    /// The sets in order; only a row that is `ok` has any.
    pub(crate) fn sets(&self) -> Vec<Set> {
        if self.time(0.5).is_none() {
            return Vec::new();
        }
        let mut sets: BTreeMap<u32, (u64, Vec<f64>)> = BTreeMap::new();
        for sample in self.timed() {
            let (launches, times) = sets.entry(sample.set).or_default();
            *launches += u64::from(sample.batch.max(1));
            times.push(sample.per_launch());
        }
        let shares = self.shares(sets.len());
        let set = |(index, (launches, times)): (usize, (u64, Vec<f64>))| {
            let share = shares.get(index).copied().filter(|share| share.is_finite());
            Some(Set { launches, nanoseconds: median(&times)?, share })
        };
        sets.into_values().enumerate().filter_map(set).collect()
    }

    /// The share of the limit in each of the `sets`; none where there is no share of the row.
    fn shares(&self, sets: usize) -> Vec<f64> {
        let rounds = self.of_limit().and(self.record.rounds.as_ref());
        let values = rounds.and_then(|rounds| Some((&rounds.to_hub, &rounds.limit.as_ref()?.to_hub)));
        match values {
            Some((own, limit)) if own.len() == sets && limit.len() == sets => {
                own.iter().zip(limit).map(|(own, limit)| (limit - own).exp()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The interval of the median of this run, in seconds.
    pub(crate) fn median_interval(&self) -> Option<(f64, f64)> {
        self.time(0.5).and_then(|_| median_interval(&self.times(), MEDIAN_ALPHA))
    }

    /// Quantile of the times; only a row that is `ok` has a time.
    pub(crate) fn time(&self, q: f64) -> Option<Seconds> {
        let times = || {
            let mut times = if self.record.status == Status::Ok { self.times() } else { Vec::new() };
            times.sort_by(f64::total_cmp);
            times
        };
        quantile(self.sorted.get_or_init(times), q).map(Seconds)
    }

    pub(crate) fn spread(&self) -> &Spread {
        self.spread.get_or_init(|| Spread::of(self.record))
    }

    /// The figures that follow from it.
    pub(crate) fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| Derived::of(self))
    }

    /// Operations of any kind; a float, because a hostile record's numbers may not fit.
    pub(crate) fn flops(&self) -> f64 {
        let work = &self.record.work;
        2.0 * work.multiply_adds as f64 + work.simple as f64 + work.special as f64
    }

    pub(crate) fn traffic(&self) -> f64 {
        self.record.work.read.0 as f64 + self.record.work.written.0 as f64
    }

    pub(crate) fn rate(&self) -> Option<Rate> {
        let median = self.time(0.5)?.0;
        let case = self.case.as_ref()?;
        let rate = match case.operation.rate {
            RateUnit::Bytes => Rate::Bytes(BytesPerSecond(self.traffic() / median)),
            RateUnit::Flops if case.precision.is_whole() => Rate::Ops(OpsPerSecond(self.flops() / median)),
            RateUnit::Flops => Rate::Flops(FlopsPerSecond(self.flops() / median)),
        };
        (rate.value().is_finite() && rate.value() > 0.0).then_some(rate)
    }

    /// The rate of the kind of `rate` for a launch of so many nanoseconds.
    pub(crate) fn rate_of(&self, rate: Rate, nanoseconds: f64) -> f64 {
        let done = match rate {
            Rate::Bytes(_) => self.traffic(),
            Rate::Flops(_) | Rate::Ops(_) => self.flops(),
        };
        done / nanoseconds * 1e9
    }

    /// Threads that worked, or were announced where none was seen.
    pub(crate) fn threads(&self) -> Option<u32> {
        let evidence = &self.record.evidence;
        [evidence.threads_seen, evidence.threads].into_iter().find(|threads| *threads > 0)
    }

    /// Most threads that the case allows.
    pub(crate) fn thread_limit(&self) -> Option<u32> {
        self.case.as_ref().map(|case| case.threads)
    }

    pub(crate) fn threads_text(&self) -> String {
        match (self.threads(), self.thread_limit()) {
            (Some(used), Some(limit)) => format!("{used}/{limit}"),
            (Some(used), None) => used.to_string(),
            (None, _) => NONE.to_owned(),
        }
    }

    pub(crate) fn median_text(&self) -> String {
        self.time(0.5).map_or(NONE.to_owned(), seconds)
    }

    pub(crate) fn rate_text(&self) -> String {
        self.rate().map_or(NONE.to_owned(), |rate| rate.to_string())
    }

    /// Share of the measured limit, and which limit; only a row that is `ok` has one.
    pub(crate) fn of_limit(&self) -> Option<(Ratio, Limiter)> {
        self.time(0.5)?;
        self.record.of_limit().filter(|(share, _)| is_sane(share))
    }

    pub(crate) fn of_limit_text(&self) -> String {
        let share =
            |(share, limiter): (Ratio, Limiter)| format!("{} {}", figures::share(share), limiter.name());
        self.of_limit().map_or(NONE.to_owned(), share)
    }

    /// The share alone: a table's narrow form.
    pub(crate) fn share_text(&self) -> String {
        self.of_limit().map_or(NONE.to_owned(), |(share, _)| figures::share(share))
    }

    /// What the row was compared with on request: a hub that is a probe is of the limit's making.
    pub(crate) fn hub(&self) -> Option<&'a str> {
        let hub = &self.record.rounds.as_ref()?.hub;
        (!is_limit(hub)).then_some(hub)
    }

    /// The row beside its hub, whatever that is; the hub itself has no such thing.
    pub(crate) fn comparison(&self) -> Option<Comparison> {
        self.time(0.5)?;
        let rounds = self.record.rounds.as_ref().filter(|rounds| rounds.hub != self.record.implementation)?;
        rounds.comparison().filter(|comparison| is_sane(&comparison.speed))
    }

    /// The comparison that was asked for.
    pub(crate) fn against(&self) -> Option<Comparison> {
        self.hub().and_then(|_| self.comparison())
    }

    /// The speed beside the hub, and what it means.
    pub(crate) fn against_text(&self) -> String {
        let Some(Comparison { word, speed, .. }) = self.against() else { return NONE.to_owned() };
        format!("{} {}", figures::speed(speed), word.name())
    }

    /// The same with the hub's name, where rows have several.
    pub(crate) fn against_whom(&self) -> String {
        match (self.against(), self.hub()) {
            (Some(_), Some(hub)) => format!("{} ({})", self.against_text(), escape(hub)),
            _ => NONE.to_owned(),
        }
    }

    /// What to know of its time before believing it, in short words.
    pub(crate) fn notes(&self) -> Vec<String> {
        notes(self).into_iter().map(|note| note.words).collect()
    }

    pub(crate) fn notes_text(&self) -> String {
        let notes = self.notes();
        if notes.is_empty() { NONE.to_owned() } else { notes.join(", ") }
    }

    /// The same as letters, which the legend below a table explains.
    pub(crate) fn marks(&self) -> String {
        notes(self).into_iter().map(|note| note.mark).collect()
    }

    /// Elements outside the bound, of those checked.
    pub(crate) fn outside(&self) -> Option<(u64, u64)> {
        let gate = &self.record.gate;
        let fault = gate.fault.as_ref().map(|fault| (fault.failed, fault.checked));
        fault.or((gate.failed > 0).then_some((gate.failed, gate.checked)))
    }

    /// The status with its reason in short, escaped, in `room` columns as far as a word allows.
    pub(crate) fn status_text(&self, room: usize, style: Style) -> String {
        let status = self.record.status;
        let why = match (status, self.outside()) {
            (Status::Wrong, Some((failed, checked))) => {
                format!("{} of {} outside the bound", count(failed), count(checked))
            }
            _ => {
                // Whose row it is stands before it.
                let whose = format!("`{}` ", self.record.implementation);
                escape(self.record.why.strip_prefix(&whose).unwrap_or(&self.record.why))
            }
        };
        let text = if why.is_empty() { status.to_string() } else { format!("{status}: {why}") };
        let text = spelled(&text, style);
        if room < LEAST_REASON && width(&text) > room {
            return status.to_string();
        }
        shorten(&text, room.min(LONGEST_STATUS))
    }

    /// Whether the reason needs more words than a status of `room` columns has. What a runner does not
    /// offer needs none: there may be hundreds of such rows, and nothing to mend. A no to a shape of the gate
    /// can be mended by a condition.
    pub(crate) fn has_details(&self, room: usize) -> bool {
        let record = self.record;
        record.status.is_failure()
            || record.status == Status::Unsupported && !self.is_not_offered()
            || record.status == Status::Refused
                && !self.status_text(room, Style::default()).ends_with(&escape(&record.why))
    }

    /// Whether the runner does not offer the case, and there is nothing to mend.
    pub(crate) fn is_not_offered(&self) -> bool {
        self.record.status == Status::Unsupported && self.record.gate.replay.is_empty()
    }

    pub(crate) fn colour(&self) -> Colour {
        match self.record.status {
            Status::Ok => Colour::Green,
            Status::Suspect => Colour::Yellow,
            Status::Unsupported | Status::Refused => Colour::Dim,
            _ => Colour::Red,
        }
    }
}

/// Whether an interval can be shown: what overflows is of a damaged record.
pub(crate) fn is_sane(ratio: &Ratio) -> bool {
    ratio.low > 0.0 && ratio.high.is_finite()
}

pub(crate) fn provider(implementation: &str) -> &str {
    implementation.split_once('/').map_or(implementation, |(provider, _)| provider)
}

pub(crate) fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Claimed => "claimed",
        Grade::Corroborated => "corroborated",
    }
}

/// The worst element in words.
pub(crate) fn worst(fault: &Fault) -> String {
    let Fault { at, got, expected, bound, .. } = fault;
    format!("at {at:?}: got {got}, expected {expected} ± {bound}")
}

/// A time for people, also when it cannot be one.
pub(crate) fn seconds(time: Seconds) -> String {
    match time.0 {
        value if value == 0.0 || (1e-12..1e6).contains(&value.abs()) => time.to_string(),
        value => format!("{value:.2e} s"),
    }
}

/// How many rows have each status, as `3 rows: 2 ok, 1 wrong`.
pub(crate) fn summary(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "no rows".to_owned();
    }
    let counts = Status::ALL.iter().filter_map(|status| {
        let n = rows.iter().filter(|row| row.record.status == *status).count();
        (n > 0).then(|| format!("{n} {status}"))
    });
    format!("{}: {}", plural(rows.len() as u64, "row"), counts.collect::<Vec<_>>().join(", "))
}

/// How many rows runners do not offer, by implementation; nothing where all are offered.
pub(crate) fn not_offered(rows: &[Row]) -> Option<String> {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for row in rows {
        let name = row.record.implementation.as_str();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let counts: Vec<String> = counts.iter().map(|(name, n)| format!("{} {n}", escape(name))).collect();
    (!counts.is_empty()).then(|| format!("unsupported and not listed without `--all`: {}", counts.join(", ")))
}
