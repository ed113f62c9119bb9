//! One row of a case while the case is being worked on.

use crate::clocks::Habits;
use crate::device::Card;
use crate::failure::{Failure, Stop};
use crate::instance::Instance;
use crate::plan::is_limit;
use crate::stage::{Seat, Stage};
use roofline_core::case::Case;
use roofline_core::check::{Check, Checked, Standing};
use roofline_core::condition::Condition;
use roofline_core::judge::Judgement;
use roofline_core::philox::Draws;
use roofline_core::protocol::{Ask, Done, Launched, Prepare, Prepared};
use roofline_core::record::{Before, Course, Ended, Evidence, Gate, Sample, Status};
use roofline_core::turn::{Account, Taken};
use roofline_core::units::{Bytes, Seconds};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A launch that takes longer than this is not repeated for the gate.
const SLOW: Duration = Duration::from_secs(1);
/// Launches whose times are kept: those of the gate and the proof, and some of the rounds.
const MOST_LAUNCH_TIMES: usize = 512;

/// Checks whose worth the visits of the rounds decide.
const OF_ROUNDS: &[Check] =
    &[Check::WallClock, Check::Memos, Check::WatchedBatch, Check::Unclaimed, Check::Copies, Check::Ceiling];

/// What is known of a row so far. A lane that failed takes no further part.
#[derive(Debug)]
pub struct Lane {
    pub seat: Seat,
    /// What its runner calls it, where it is one side of a comparison.
    pub own_name: String,
    pub draws: Draws,
    /// What it requires of a case.
    pub condition: Condition,
    pub failure: Option<Failure>,
    pub gate: Gate,
    pub evidence: Evidence,
    pub samples: Vec<Sample>,
    pub notes: BTreeMap<String, String>,
    /// What the device of its case did meanwhile.
    pub card: Card,
    /// Of the case's mathematics.
    pub definition: Option<String>,
    pub runner_version: String,
    /// What is usual for its runner's kind of program.
    pub habits: Habits,
    /// Seconds of each launch so far, and the checks that it sat out in part because of them.
    launch_times: Vec<f64>,
    pub missed: BTreeSet<Check>,
    /// Time of one launch, as the proof saw it.
    pub speed: Option<Duration>,
    /// How its visits are asked for.
    pub course: Option<Course>,
    /// How many times as many launches its own samples have in its pairs, and those of the hub: more than one for a probe
    /// beside who is far slower.
    pub own_launches: u32,
    pub hub_launches: u32,
    /// Values of its sets against the hub, and what its visits told besides.
    pub to_hub: Vec<f64>,
    pub account: Account,
    /// How often it was measured anew, and how many sets the hub had when it last was.
    pub restarts: u32,
    pub since: usize,
    /// Why its own sets were doubted the first time.
    pub doubted: Option<String>,
    /// What its sets had found that are taken again, because the run would fail by them.
    pub before: Option<Before>,
    /// Whether each of its launches that count finds new values: it is quicker on those that it has seen.
    pub renews: bool,
    /// What judging a visit last took.
    pub judging: Duration,
    /// Visits to others in which its process worked.
    pub disturbances: u32,
    /// Visits that took more CPU time than their cores have.
    pub overruns: u32,
    /// Sets after which its process did not come to rest.
    pub unrests: u32,
    /// Time that its pairs have taken, with what it took to set them up.
    pub spent: Duration,
    /// What was taken from it meanwhile.
    pub taken: Taken,
    /// Error probability of the last look, and why it was the last.
    pub ended: Option<(f64, Ended)>,
    /// Whether its record has been written.
    pub is_recorded: bool,
    /// Checks that were not made in full, and why.
    exceptions: BTreeMap<Check, (Standing, String)>,
}

impl Lane {
    /// `seed` is the run's; a lane draws its own numbers, whoever is measured beside it.
    pub fn new(implementation: &str, runner: &str, case: &Case, seed: u64) -> Lane {
        Lane {
            seat: Seat::of(case, runner, implementation),
            own_name: implementation.to_owned(),
            draws: Draws::of(seed, implementation),
            condition: Condition::default(),
            failure: None,
            gate: Gate::default(),
            evidence: Evidence::default(),
            samples: Vec::new(),
            notes: BTreeMap::new(),
            card: Card::default(),
            definition: None,
            runner_version: String::new(),
            habits: Habits::INTERPRETED,
            launch_times: Vec::new(),
            missed: BTreeSet::new(),
            speed: None,
            course: None,
            own_launches: 1,
            hub_launches: 1,
            to_hub: Vec::new(),
            account: Account::default(),
            restarts: 0,
            since: 0,
            doubted: None,
            before: None,
            renews: false,
            judging: Duration::ZERO,
            disturbances: 0,
            overruns: 0,
            unrests: 0,
            spent: Duration::ZERO,
            taken: Taken::default(),
            ended: None,
            is_recorded: false,
            exceptions: BTreeMap::new(),
        }
    }

    /// Notes that a check was made in part, or not at all, for a reason outside the row.
    pub fn weaker(&mut self, check: Check, why: impl Into<String>) {
        let why = why.into();
        match self.exceptions.get_mut(&check) {
            Some((Standing::Weaker, known)) if known.contains(&why) => {}
            Some((Standing::Weaker, known)) => *known += &format!("; {why}"),
            _ => drop(self.exceptions.insert(check, (Standing::Weaker, why))),
        }
    }

    /// Notes that the row has nothing that a check could be made on, unless it was weaker anyway.
    pub fn not_applicable(&mut self, check: Check, why: impl Into<String>) {
        self.exceptions.entry(check).or_insert_with(|| (Standing::NotApplicable, why.into()));
    }

    /// Forgets what checks of the rounds were worth: they are made again, on more visits or others.
    pub fn forget_standings(&mut self) {
        self.exceptions.retain(|check, _| !OF_ROUNDS.contains(check));
    }

    /// Notes that what only the rounds look at was not looked at.
    pub fn not_timed(&mut self) {
        for check in [Check::Memos, Check::WatchedBatch, Check::Unclaimed, Check::Copies] {
            self.not_applicable(check, "nothing was timed");
        }
    }

    /// Every check of a row that came through, and what it was worth. What a row that did not has failed at is its
    /// reason; what came after that was not made.
    pub fn checks(&self) -> Vec<Checked> {
        let checked = |check: &Check| {
            let (standing, why) =
                self.exceptions.get(check).cloned().unwrap_or((Standing::Held, String::new()));
            Checked { check: *check, standing, why }
        };
        if self.is_live() { Check::ALL.iter().map(checked).collect() } else { Vec::new() }
    }

    /// Whether this is a limit's probe, which computes nothing and so is not judged.
    pub fn is_probe(&self) -> bool {
        is_limit(&self.seat.implementation)
    }

    /// Whether a launch takes over a second, by the median of all so far: one nap makes nobody slow.
    pub fn is_slow(&self) -> bool {
        let mut times = self.launch_times.clone();
        times.sort_by(f64::total_cmp);
        // Of two, the quicker one.
        times.get(times.len().saturating_sub(1) / 2).is_some_and(|time| *time > SLOW.as_secs_f64())
    }

    /// Whether it sat out a part of the gate as slow, and is not.
    pub fn turned_fast(&self) -> bool {
        !self.missed.is_empty() && !self.is_slow()
    }

    /// Takes down how long some launches took, the first of them for all.
    pub fn took(&mut self, launches: u32, time: Duration) {
        if launches > 0 && self.launch_times.len() < MOST_LAUNCH_TIMES {
            self.launch_times.push(time.as_secs_f64() / f64::from(launches));
        }
    }

    pub fn is_live(&self) -> bool {
        self.failure.is_none()
    }

    /// Ends the lane, and its process with it.
    pub fn fail(&mut self, stage: &mut Stage, failure: Failure) {
        if failure.status != Status::Unsupported {
            stage.clear(&self.seat);
        }
        // No wrong kernel gets a time, whenever it is found out.
        self.samples.clear();
        self.gate.seen_in.clone_from(&failure.seen_in);
        self.gate.fault = failure.fault.as_deref().cloned();
        self.failure.get_or_insert(failure);
    }

    /// Lets each launch that counts find new values.
    pub fn renew(&mut self, why: &str) {
        self.notes.insert("new values".to_owned(), why.to_owned());
        self.renews = true;
    }

    /// Notes that it is measured anew because of this.
    pub fn doubt(&mut self, why: String) {
        self.notes.insert("measured anew".to_owned(), why.clone());
        self.doubted = Some(why);
    }

    /// Forgets what its sets have found: it is measured anew, from the hub's set `since` on.
    pub fn restart(&mut self, since: usize) {
        self.samples.clear();
        self.to_hub.clear();
        self.account = Account::default();
        self.forget_standings();
        self.spent = Duration::ZERO;
        self.since = since;
        self.restarts += 1;
        if !self.is_recorded {
            self.ended = None;
        }
    }

    /// Runs a step of the lane. The row's own failures end the lane; others go up.
    pub fn attempt<T>(
        &mut self,
        stage: &mut Stage,
        place: &str,
        step: impl FnOnce(&mut Lane, &mut Stage) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        let outcome = step(self, stage);
        // What was seen of a device that has failed says nothing of the row.
        if let Some(failure) = stage.device_fault() {
            self.fail(stage, failure.seen_in(place));
            return Ok(None);
        }
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Row(failure)) => {
                self.fail(stage, failure.seen_in(place));
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Takes a step that judges its output, and again while all other processes are stopped if that is wrong and another
    /// worked meanwhile, who may have written it: nothing of one row's fault in another's verdict.
    pub fn fairly(
        &mut self,
        stage: &mut Stage,
        mut step: impl FnMut(&mut Lane, &mut Stage) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let (others, gate) = (stage.clocks_of_others(&self.seat), self.gate.clone());
        match step(self, stage) {
            Err(Stop::Row(failure))
                if failure.status == Status::Wrong
                    && !stage.moved(&self.seat, &others, Duration::ZERO).is_empty() =>
            {
                self.gate = gate;
                stage.stop_others(&self.seat, true);
                let again = step(self, stage);
                stage.stop_others(&self.seat, false);
                again
            }
            outcome => outcome,
        }
    }

    /// Hands the instance's tensors to the runner.
    pub fn prepare(&mut self, stage: &mut Stage, instance: &Instance) -> Result<(), Stop> {
        let session = stage.seat(&self.seat)?;
        self.runner_version.clone_from(&session.hello.version);
        self.habits = session.habits;
        let hello_notes = session.hello.notes.clone();
        if let Some(weakness) = session.isolation.weakness() {
            self.weaker(Check::Sandbox, weakness);
        }
        session.own_name(&self.seat.implementation).clone_into(&mut self.own_name);
        let mut question = question(&instance.case, &self.seat, instance);
        question.implementation.clone_from(&self.own_name);
        let ask = Ask::Prepare(Box::new(question));
        let start = Instant::now();
        // Compiling and planning belong here, and may take as long as starting.
        let patience = stage.options.limits.patience_at_start();
        let prepared: Prepared =
            stage.ask_while(&self.seat, ask, &instance.fds(), patience, Duration::from_millis(50), || {})?;
        self.evidence.prepare = Some(Seconds(start.elapsed().as_secs_f64()));
        self.evidence.threads = prepared.threads;
        self.evidence.output = prepared.output;
        self.evidence.workspace = Bytes(prepared.workspace_bytes);
        self.notes.extend(hello_notes);
        self.notes.extend(prepared.notes);
        if prepared.threads > self.seat.threads {
            let why = format!("wants {} threads; {} are allowed", prepared.threads, self.seat.threads);
            return Err(Failure::new(Status::Suspect, why).into());
        }
        Ok(())
    }

    pub fn launch(&mut self, stage: &mut Stage, count: u32) -> Result<(), Stop> {
        let start = Instant::now();
        let launched: Launched = stage.ask(&self.seat, Ask::Launch { count }, &[])?;
        self.took(count, start.elapsed());
        self.gate.launches += count;
        // Before the first one kernels may set up what they keep; the last launch is what counts.
        self.evidence.allocations = launched.allocations;
        crate::timing::check_float_mode(stage, launched.float_mode_changed)
    }

    pub fn release(&mut self, stage: &mut Stage) -> Result<(), Stop> {
        let _: Done = stage.ask(&self.seat, Ask::Release, &[])?;
        Ok(())
    }

    /// Adds what was taken from it in a set.
    pub fn lose(&mut self, taken: Taken) {
        self.taken.add(taken);
        self.evidence.steal = self.taken.steal();
        self.evidence.others = self.taken.used_by_others();
        self.evidence.switches = self.taken.switches;
    }

    /// Adds what the judge found, and fails when an element is outside its bound.
    pub fn settle(&mut self, judgement: Judgement) -> Result<(), Failure> {
        self.gate.checked += judgement.checked as u64;
        self.gate.failed += judgement.failed as u64;
        self.gate.score = self.gate.score.max(judgement.score);
        match judgement.fault {
            None => Ok(()),
            Some(fault) => Err(Failure {
                fault: Some(Box::new(fault.clone())),
                // The worst element and the pattern have their own places in the record.
                ..Failure::new(
                    Status::Wrong,
                    format!("{} of {} elements are outside the bound", fault.failed, fault.checked),
                )
            }),
        }
    }
}

/// The `prepare` question of a case.
pub fn question(case: &Case, seat: &Seat, instance: &Instance) -> Prepare {
    Prepare {
        threads: seat.threads,
        cores: seat.cores().unwrap_or_default(),
        work: is_limit(&seat.implementation).then(|| (case.operation.work)(case)),
        ..case.question(&seat.implementation, instance.places())
    }
}
