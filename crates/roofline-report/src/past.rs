//! What stored figures of one row can say beside each other.
//!
//! Another hour is another load: of two runs of one and the same kernel the medians differ by half and more. What was measured
//! side by side within each run stays together better, and so a row is held by its share of the limit, else by its speed
//! beside whom it was compared with, else by its median. How far such figures lie apart for no reason is known from runs
//! over an hour on a machine that others use: 99 of 100 pairs stayed within [`Figure::resolution`]. The intervals of a
//! run are of that run, and say nothing here.

use crate::figures;
use crate::row::{Row, seconds};
use crate::text::escape;
use roofline_core::record::{Limiter, Record};
use roofline_core::units::Seconds;

/// By what a row of the past is held, with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figure {
    /// Share of the limit that this probe showed.
    Share { value: f64, limiter: String, probe: String, is_alone: bool },
    /// How many times as fast as the hub.
    Speed { value: f64, hub: String },
    /// In seconds.
    Median { value: f64 },
}

impl Figure {
    /// All that a record has, the best first. A file without samples may have them as notes.
    pub(crate) fn of(record: &Record) -> Vec<Figure> {
        let row = Row::new(record);
        let Some(median) = row.time(0.5) else { return Vec::new() };
        let note = |name: &str| record.provenance.notes.get(name).filter(|_| record.is_imported());
        let number =
            |name: &str| note(name)?.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
        let is_alone = row.thread_limit().is_none_or(|threads| threads <= 1);
        let share = row.of_limit().map(|(share, limiter)| {
            let limit = record.rounds.as_ref().and_then(|rounds| rounds.limit.as_ref());
            let probe = limit.map_or(String::new(), |limit| limit.probe.clone());
            Figure::Share { value: share.value, limiter: limiter.name().to_owned(), probe, is_alone }
        });
        let noted_share = || {
            let (limiter, probe) = (note("limiter")?.clone(), note("probe")?.clone());
            Some(Figure::Share { value: number("of_limit")?, limiter, probe, is_alone })
        };
        let speed = row.against().zip(row.hub());
        let speed =
            speed.map(|(against, hub)| Figure::Speed { value: against.speed.value, hub: hub.to_owned() });
        let noted_speed = || Some(Figure::Speed { value: number("speed")?, hub: note("against")?.clone() });
        let found = [share.or_else(noted_share), speed.or_else(noted_speed)];
        found.into_iter().flatten().chain([Figure::Median { value: median.0 }]).collect()
    }

    /// Whether it is the same figure of another run.
    fn is_like(&self, other: &Figure) -> bool {
        match (self, other) {
            (Figure::Share { probe, .. }, Figure::Share { probe: same, .. }) => probe == same,
            (Figure::Speed { hub, .. }, Figure::Speed { hub: same, .. }) => hub == same,
            (Figure::Median { .. }, Figure::Median { .. }) => true,
            _ => false,
        }
    }

    /// A relative change within this says nothing.
    pub(crate) fn resolution(&self) -> f64 {
        match self {
            Figure::Share { limiter, is_alone, .. } if limiter == Limiter::Traffic.name() => {
                if *is_alone {
                    0.12
                } else {
                    0.25
                }
            }
            Figure::Share { .. } | Figure::Speed { .. } => 0.30,
            Figure::Median { .. } => 0.61,
        }
    }

    /// By what it is held, in words.
    pub(crate) fn by(&self) -> String {
        match self {
            Figure::Share { .. } => "share of limit".to_owned(),
            Figure::Speed { hub, .. } => format!("beside {}", escape(hub)),
            Figure::Median { .. } => "median".to_owned(),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Figure::Share { value, .. } => figures::percent(*value),
            Figure::Speed { value, .. } => figures::times(*value),
            Figure::Median { value } => seconds(Seconds(*value)),
        }
    }

    /// ln of how many times as fast this is as what it was.
    fn ahead_of(&self, old: &Figure) -> f64 {
        match (self, old) {
            (Figure::Median { value }, Figure::Median { value: old }) => (old / value).ln(),
            (
                Figure::Share { value, .. } | Figure::Speed { value, .. },
                Figure::Share { value: old, .. } | Figure::Speed { value: old, .. },
            ) => (value / old).ln(),
            _ => 0.0,
        }
    }
}

/// How a row's figure changed from one run to another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) old: Figure,
    pub(crate) new: Figure,
    /// How many times as fast, less one.
    pub(crate) speed: f64,
}

/// What a change could mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Runs of one kernel differ as much.
    None,
    Faster,
    Slower,
}

impl Change {
    /// By the best figure that both have.
    pub(crate) fn between(old: &Record, new: &Record) -> Option<Change> {
        let now = Figure::of(new);
        let pair = Figure::of(old).into_iter().find_map(|old| {
            let new = now.iter().find(|new| new.is_like(&old))?.clone();
            Some((old, new))
        });
        let (old, new) = pair?;
        let speed = new.ahead_of(&old).exp_m1();
        speed.is_finite().then_some(Change { old, new, speed })
    }

    pub(crate) fn sign(&self) -> Sign {
        match self.speed.ln_1p() {
            ahead if ahead.abs() <= self.new.resolution().ln_1p() => Sign::None,
            ahead if ahead > 0.0 => Sign::Faster,
            _ => Sign::Slower,
        }
    }
}

/// Whether figures of two records can stand beside each other at all; if not, why.
pub(crate) fn differs(old: &Record, new: &Record) -> Option<&'static str> {
    let (then, now) = (&old.provenance, &new.provenance);
    let is_other = |then: &str, now: &str| !then.is_empty() && !now.is_empty() && then != now;
    if is_other(then.definition.as_deref().unwrap_or(""), now.definition.as_deref().unwrap_or("")) {
        return Some("another definition");
    }
    if is_other(&then.machine, &now.machine) {
        return Some("another machine");
    }
    None
}
