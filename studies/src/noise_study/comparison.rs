//! One run of the conductor: the names of a leg against `knob/a`.

use super::journal::{Study, Try};
use super::{Kind, Leg};
use crate::bench;
use crate::facts::now;
use roofline_conductor::conduct::{Finish, Observer, RunFacts, Step, conduct};
use roofline_conductor::plan::{Plan, PlannedCase, PlannedRow};
use roofline_conductor::runners::{self, RunnerSpec};
use roofline_conductor::session::Limits;
use roofline_conductor::stage::Options;
use roofline_core::case::Case;
use roofline_core::record::{Record, Status};
use roofline_core::turn::Turn;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const HUB: &str = "knob/a";
/// A difference below this counts as none: half of the smallest that must be found, so that a percent
/// of extra work is never rightly called the same.
const DELTA: f64 = 0.005;

/// The program and the knob's runner.
pub(super) struct Contestants {
    program: PathBuf,
    runner: RunnerSpec,
}

impl Contestants {
    /// Builds both where this program was built.
    pub(super) fn build() -> io::Result<Contestants> {
        let binaries = bench::build(&["-p", "roofline", "-p", "knob"])?;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("knob");
        let runner = runners::read(&folder, &binaries).map_err(io::Error::other)?;
        Ok(Contestants { program: binaries.join("roofline"), runner })
    }

    /// Compares every name of the leg with the hub.
    pub(super) fn compare(&self, kind: &Kind, leg: Leg, seed: u64, study: &Study) -> io::Result<Vec<Try>> {
        let case: Case = kind.case.parse().map_err(io::Error::other)?;
        let row = |implementation: String| PlannedRow {
            implementation,
            runner: self.runner.name.clone(),
            lacks: None,
            requires: Default::default(),
            is_compared: false,
        };
        let names = leg.names.iter().map(|name| format!("knob/{name}"));
        let rows = std::iter::once(HUB.to_owned()).chain(names).map(row).collect();
        // Without probes the comparison is all that is asked for.
        let against = Some(HUB.to_owned());
        let plan =
            Plan { cases: vec![PlannedCase { case, rows, against, probes: Vec::new(), has_device: true }] };
        let limits = Limits { patience: Duration::from_secs(10), memory: 2 << 30 };
        let options = Options {
            budget: Some(Duration::from_secs(leg.budget)),
            delta: DELTA,
            ..Options::new(self.program.clone(), vec![self.runner.clone()], limits, seed)
        };
        let facts = RunFacts { run: "noise-study".to_owned(), machine: String::new() };
        let mut seen = Seen::default();
        match conduct(&plan, &options, &facts, &[], &mut seen)? {
            Finish::Interrupted => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(leg.names.iter().map(|name| seen.outcome(kind, leg, name, study)).collect()),
        }
    }
}

/// What a run told.
#[derive(Default)]
struct Seen {
    records: Vec<Record>,
    /// Implementation and time of every turn.
    spent: Vec<(String, f64)>,
}

impl Seen {
    fn outcome(&self, kind: &Kind, leg: Leg, name: &str, study: &Study) -> Try {
        let implementation = format!("knob/{name}");
        let spent = self.spent.iter().filter(|(who, _)| *who == implementation).map(|(_, seconds)| seconds);
        let mut one = Try {
            study: study.id.clone(),
            finished: now(),
            kind: kind.name.to_owned(),
            budget: leg.budget,
            loaded: leg.loaded,
            name: name.to_owned(),
            word: None,
            mean: None,
            half: None,
            seconds: (1e3 * spent.sum::<f64>()).round() / 1e3,
            sets: Vec::new(),
            failure: String::new(),
        };
        let record = self.records.iter().find(|record| record.implementation == implementation);
        let Some(record) = record.filter(|record| record.status == Status::Ok) else {
            let status =
                record.map_or("no record".to_owned(), |record| format!("{}: {}", record.status, record.why));
            return Try { failure: status, ..one };
        };
        if let Some(rounds) = &record.rounds {
            one.sets = rounds.to_hub.iter().map(|value| (1e6 * value).round() / 1e6).collect();
            one.word = rounds.comparison().map(|comparison| comparison.word);
            if let Some(interval) = rounds.to_hub_interval() {
                (one.mean, one.half) = (Some(interval.mean), Some(interval.half));
            }
        }
        one
    }
}

impl Observer for Seen {
    fn begin(&mut self, _: Step, _: &Case) {}

    fn turn(&mut self, turn: &Turn) -> io::Result<()> {
        self.spent.extend(turn.lanes.iter().map(|lane| (lane.implementation.clone(), lane.spent.0)));
        Ok(())
    }

    fn record(&mut self, record: Record) -> io::Result<()> {
        self.records.push(record);
        Ok(())
    }

    fn end(&mut self, _: &Case) -> io::Result<()> {
        Ok(())
    }

    fn stamp(&mut self) -> (String, String) {
        (String::new(), String::new())
    }
}
