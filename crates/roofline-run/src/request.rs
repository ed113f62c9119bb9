//! From plans to records.

use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::{Ask, Planned, begin, roughly, terminal};
use roofline_conductor::conduct::{Finish, RunFacts, conduct};
use roofline_conductor::device;
use roofline_conductor::lock::{self, Lock};
use roofline_conductor::machine::Machine;
use roofline_conductor::plan::Plan;
use roofline_conductor::spent::Spent;
use roofline_conductor::stage::Options;
use roofline_conductor::sys::signals;
use roofline_core::case::Device;
use roofline_core::record::{Record, Run};
use roofline_core::turn::Turn;
use roofline_core::verdict;
use roofline_store::{Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Who waits for longer than this is told what the time went into.
const LONG: Duration = Duration::from_secs(30);

/// What is to be measured, how, and where it is kept.
pub struct Request<'a> {
    pub ask: &'a Ask,
    pub planned: &'a Planned,
    /// The binary that is keeper and built-in runner.
    pub program: &'a Path,
    pub machine: &'a Machine,
    pub store: &'a Path,
    /// The run to go on with, instead of a new one.
    pub past: Option<Past>,
    /// The command that shows a row again, where it is not the conductor's.
    pub reproduce: Option<&'a dyn Fn(&Record) -> String>,
}

/// What a run that was stopped has left.
pub struct Past {
    pub run: Run,
    pub records: Vec<Record>,
    pub turns: Vec<Turn>,
}

/// What came of a request.
pub struct Outcome {
    pub run: Run,
    /// Case by case, in the order of the plans.
    pub records: Vec<Record>,
    pub finish: io::Result<Finish>,
    /// How many rows were planned, and how many of these have a record.
    pub planned: usize,
    pub finished: usize,
    /// Without this a run is not finished.
    pub kept: Result<(), StoreError>,
}

/// Why nothing was begun.
#[derive(Debug, thiserror::Error)]
pub enum Unbegun {
    #[error("store: {0}")]
    Store(#[from] StoreError),
    #[error("another run has not ended in time: {0}")]
    Busy(io::Error),
    #[error("the machine's lock cannot be taken: {0}")]
    Lock(io::Error),
    #[error("interrupted: nothing was started")]
    Interrupted,
}

impl Request<'_> {
    /// Takes the locks of the plans' devices, conducts the plans, and stores records as they come.
    pub fn run(self) -> Result<Outcome, Unbegun> {
        let store = Store::open(self.store)?;
        signals::catch_interrupts();
        let cases = self.planned.plans.iter().flat_map(|plan| &plan.cases);
        let devices: BTreeSet<Device> = cases.map(|planned| planned.case.device).collect();
        let lock_of = |device| {
            let uuid = device::facts(self.program, device).map(|facts| facts.uuid);
            lock(device, uuid.as_deref(), self.ask.wait)
        };
        let _locks: Vec<Lock> = devices.into_iter().map(lock_of).collect::<Result<_, _>>()?;
        let Past { run, records, turns } = match self.past {
            Some(past) => past,
            None => {
                let run = begin(self.machine);
                store.append_run(&run)?;
                Past { run, records: Vec::new(), turns: Vec::new() }
            }
        };
        let facts = RunFacts { run: run.id.clone(), machine: self.machine.fingerprint() };
        let start = Instant::now();
        let (finish, kept) = (Ok(Finish::Complete), Ok(()));
        let planned = self.planned.rows();
        let mut outcome = Outcome { run, records, finish, planned, finished: 0, kept };
        let asked = self.ask.options(self.program, &self.planned.lineup, self.machine);
        let places = places(&self.planned.plans);
        let of_plans = places.keys().filter(|row| outcome.records.iter().any(|record| record.row() == **row));
        let mut progress = Progress::new("rows", of_plans.count(), planned);
        let mut spent = Spent::default();
        for plan in &self.planned.plans {
            let records = std::mem::take(&mut outcome.records);
            let mut recorder = Recorder::new(&store, &facts.run, plan, records, &mut progress);
            recorder.reproduce = self.reproduce;
            recorder.places.clone_from(&places);
            let rest = plan.without(&recorder.records);
            // The time of the run is that of all its plans.
            let total_budget = asked.total_budget.map(|budget| budget.saturating_sub(start.elapsed()));
            let options = Options { total_budget, ..asked.clone() };
            outcome.finish = conduct(&rest, &options, &facts, &turns, &mut recorder);
            outcome.finished += recorder.finished();
            spent.add(recorder.spent);
            outcome.kept = recorder.confirm();
            outcome.records = recorder.records;
            if outcome.kept.is_err() || !matches!(outcome.finish, Ok(Finish::Complete)) {
                break;
            }
        }
        progress.finish();
        if start.elapsed() > LONG {
            terminal::tell(&format!("took {}: {spent}", roughly(start.elapsed())));
        }
        sort(&self.planned.plans, &mut outcome.records);
        verdict::drop_failed_hubs(&mut outcome.records);
        Ok(outcome)
    }
}

/// The places of all rows, case by case in the order of the plans.
fn places(plans: &[Plan]) -> BTreeMap<String, u32> {
    let mut rows: Vec<(usize, String)> = Vec::new();
    let mut cases: BTreeMap<String, usize> = BTreeMap::new();
    for planned in plans.iter().flat_map(|plan| &plan.cases) {
        let (case, next) = (planned.case.to_string(), cases.len());
        let place = *cases.entry(case.clone()).or_insert(next);
        rows.extend(planned.rows.iter().map(|row| (place, format!("{case}@{}", row.implementation))));
    }
    rows.sort_by_key(|(case, _)| *case);
    let mut places = BTreeMap::new();
    for (_, row) in rows {
        let next = places.len() as u32;
        places.entry(row).or_insert(next);
    }
    places
}

/// Records come as rows are decided, and plan by plan; people read case by case.
fn sort(plans: &[Plan], records: &mut [Record]) {
    plans.iter().rev().for_each(|plan| plan.sort(records));
    let cases: Vec<String> =
        plans.iter().flat_map(|plan| &plan.cases).map(|planned| planned.case.to_string()).collect();
    records.sort_by_cached_key(|record| cases.iter().position(|case| *case == record.case));
}

/// A device's lock; who has to wait for it is told.
pub fn lock(device: Device, uuid: Option<&str>, patience: Option<Duration>) -> Result<Lock, Unbegun> {
    let waiting = |holder: &str| {
        terminal::tell(&format!("another run is going on ({holder}); waiting for it to end"));
    };
    lock::take(device, uuid, patience, waiting).map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted => Unbegun::Interrupted,
        io::ErrorKind::TimedOut => Unbegun::Busy(error),
        _ => Unbegun::Lock(error),
    })
}
