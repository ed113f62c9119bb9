//! Conducts a plan: case by case through gate and visits, a record for every row.

use crate::failure::{Failure, Stop};
use crate::job::quoted;
use crate::lane::Lane;
use crate::plan::{Plan, PlannedCase};
use crate::stage::{Options, Stage, cores_for};
use crate::sys::signals;
use crate::{gate, visits};
use roofline_core::case::{Cache, Case, Device};
use roofline_core::mutants::self_test;
use roofline_core::record::{Provenance, Record, SCHEMA, Status};
use roofline_core::units::Bytes;
use std::collections::BTreeMap;
use std::io;

/// Sees what happens while it happens.
pub trait Observer {
    /// A case is about to begin.
    fn begin(&mut self, number: usize, case: &Case);
    /// A row is finished. What it returns ends the run, if it is an error.
    fn record(&mut self, record: Record) -> io::Result<()>;
    /// An id for a record, and the time.
    fn stamp(&mut self) -> (String, String);
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Complete,
    Interrupted,
}

/// Everything that a record says of its run.
#[derive(Clone, Debug)]
pub struct RunFacts {
    pub run: String,
    pub machine: String,
}

pub fn conduct(
    plan: &Plan,
    options: &Options,
    facts: &RunFacts,
    observer: &mut dyn Observer,
) -> io::Result<Finish> {
    let mut stage = Stage::new(options)?;
    let mut tested = BTreeMap::new();
    for (number, planned) in plan.cases.iter().enumerate() {
        if signals::interrupted() {
            return Ok(Finish::Interrupted);
        }
        observer.begin(number, &planned.case);
        match conduct_case(&mut stage, planned, &mut tested) {
            Ok(lanes) => {
                for lane in lanes {
                    let stamp = observer.stamp();
                    observer.record(record(planned, lane, options, facts, stamp))?;
                }
            }
            Err(Stop::Interrupted) => return Ok(Finish::Interrupted),
            Err(Stop::Own(error)) => return Err(error),
            Err(Stop::Row(failure)) => return Err(io::Error::other(failure.why)),
        }
    }
    Ok(Finish::Complete)
}

/// Outcomes of the gate's self-test, by form and precision.
type SelfTests = BTreeMap<String, Option<String>>;

fn conduct_case(stage: &mut Stage, planned: &PlannedCase, tested: &mut SelfTests) -> Result<Vec<Lane>, Stop> {
    let case = &planned.case;
    let mut lanes: Vec<Lane> =
        planned.rows.iter().map(|row| Lane::new(&row.implementation, &row.runner, case.threads)).collect();
    let refusal = refusal(case, stage.options.limits.memory).or_else(|| broken_gate(stage, case, tested));
    for (lane, row) in lanes.iter_mut().zip(&planned.rows) {
        if !row.offered {
            let why = format!("`{}` does not offer {} in {}", row.implementation, case.form(), case.dtype);
            lane.failure = Some(Failure::new(Status::Unsupported, why));
        } else if let Some(why) = &refusal {
            lane.failure = Some(Failure::new(Status::Refused, why.clone()));
        }
    }
    // Tensors are made for rows that use them: those of a refused case may fit no memory.
    if lanes.iter().any(Lane::is_live) {
        gate::pass(stage, case, &mut lanes)?;
        visits::visit_all(stage, case, &mut lanes)?;
    }
    Ok(lanes)
}

/// Why the conductor will not work on a case.
pub fn refusal(case: &Case, memory: u64) -> Option<String> {
    if case.sizes.contains(&0) {
        return Some("has a size of zero".to_owned());
    }
    match case.footprint() {
        Some(bytes) if bytes <= memory => {}
        Some(bytes) => {
            return Some(format!("its tensors take {}; {} is the limit", Bytes(bytes), Bytes(memory)));
        }
        None => return Some("its tensors are larger than any memory".to_owned()),
    }
    if cores_for(case.threads).is_none() {
        return Some(format!("asks for {} threads; there are fewer cores", case.threads));
    }
    if case.cache == Cache::Cold {
        return Some("cold caches are not measured yet".to_owned());
    }
    (case.device != Device::Cpu).then(|| format!("there is no device `{}`", case.device))
}

/// Runs the gate's self-test once for each form and precision; says what is wrong with the gate.
fn broken_gate(stage: &Stage, case: &Case, tested: &mut SelfTests) -> Option<String> {
    let key = format!("{}/{}", case.form(), case.dtype);
    let outcome = tested.entry(key).or_insert_with(|| {
        // The study that loosens the bound wants to see what then gets through, not this.
        let outcome = self_test(case, stage.options.seed, 1.0);
        (!outcome.broken.is_empty())
            .then(|| format!("the gate's self-test failed: {}", outcome.broken.join("; ")))
    });
    outcome.clone()
}

fn record(
    planned: &PlannedCase,
    lane: Lane,
    options: &Options,
    facts: &RunFacts,
    (id, at): (String, String),
) -> Record {
    let case = &planned.case;
    let (status, why) = match &lane.failure {
        Some(failure) => (failure.status, failure.why.clone()),
        None => (Status::Ok, String::new()),
    };
    let reproduce = reproduce(case, &lane, options, status);
    Record {
        schema: SCHEMA,
        id,
        run: facts.run.clone(),
        at,
        case: case.to_string(),
        implementation: lane.seat.implementation.clone(),
        status,
        why,
        reproduce,
        work: case.footprint().map(|_| (case.operation.work)(case)).unwrap_or_default(),
        gate: lane.gate,
        samples: lane.samples,
        rounds: None,
        evidence: lane.evidence,
        provenance: Provenance {
            roofline: env!("CARGO_PKG_VERSION").to_owned(),
            runner: lane.seat.runner,
            runner_version: lane.runner_version,
            machine: facts.machine.clone(),
            seed: options.seed,
            notes: lane.notes,
        },
    }
}

/// The command that shows a row again, with what decided its status.
fn reproduce(case: &Case, lane: &Lane, options: &Options, status: Status) -> String {
    let verb = if options.budget.is_some() { "run" } else { "check" };
    let mut command = format!("roofline {verb} {case} -i {}", lane.seat.implementation);
    if lane.seat.runner != "cpu" {
        let spec = options.runners.iter().find(|spec| spec.name == lane.seat.runner);
        let runner = match spec.filter(|spec| spec.by_folder) {
            Some(spec) => quoted(&spec.folder.display().to_string()),
            None => lane.seat.runner.clone(),
        };
        command += &format!(" --runner {runner}");
    }
    match status {
        Status::Timeout => command += &format!(" --timeout {}ms", options.limits.patience.as_millis()),
        Status::OutOfMemory => command += &format!(" --memory {}", options.limits.memory),
        _ => {}
    }
    command + &format!(" --seed {}", options.seed)
}
