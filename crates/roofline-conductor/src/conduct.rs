//! Conducts a plan: every case through the gate, then set by set through the rounds; a record for every row.

use crate::device;
use crate::failure::{Failure, SeenOn, Stop};
use crate::job::quoted;
use crate::lane::Lane;
use crate::plan::{Plan, PlannedCase, PlannedRow};
use crate::rounds::{Contest, Effort, MOST_SIZED, Start};
use crate::runners::RESERVED;
use crate::spent::Spent;
use crate::stage::{Options, Stage, available_cores, cores_for};
use crate::sys::signals;
use crate::{gate, proof, references, standings};
use roofline_core::case::{Cache, Case};
use roofline_core::check::{Check, Checked, Standing};
use roofline_core::definition::definition;
use roofline_core::mutants::self_test;
use roofline_core::operation::Judged;
use roofline_core::operation::own::{Declarer, Own, check_reach};
use roofline_core::philox::Draws;
use roofline_core::record::{Evidence, Gate, Provenance, Record, Rounds, SCHEMA, Status};
use roofline_core::turn::Turn;
use roofline_core::units::Bytes;
use roofline_core::verdict::FEWEST_SETS;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

/// Sees what happens while it happens. What its methods return ends the run, if it is an error.
pub trait Observer {
    /// A step is about to begin.
    fn begin(&mut self, step: Step, case: &Case);
    /// A case has had its turn in a set.
    fn turn(&mut self, turn: &Turn) -> io::Result<()>;
    /// A row is finished.
    fn record(&mut self, record: Record) -> io::Result<()>;
    /// All rows of a case are finished: its turns are no longer needed.
    fn end(&mut self, case: &Case) -> io::Result<()>;
    /// What showing the difference that was asked for will take, by the first sets.
    fn forecast(&mut self, _forecast: Forecast) {}
    /// What the time went into, when all is over.
    fn spent(&mut self, _spent: Spent) {}
    /// An id for a record, and the time.
    fn stamp(&mut self) -> (String, String);
}

/// What it will take to show a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Sets more of the row that needs most; too few where it would be more than anybody waits for.
    pub sets: usize,
    pub suffices: bool,
    /// From now on.
    pub time: Duration,
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Gate,
    Set(u32),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Complete,
    Interrupted,
    /// The run's budget was spent before every row was finished.
    OutOfTime,
}

/// Everything that a record says of its run.
#[derive(Clone, Debug)]
pub struct RunFacts {
    pub run: String,
    pub machine: String,
}

/// Conducts the plan. `past` are the turns of the same run before it was stopped.
pub fn conduct(
    plan: &Plan,
    options: &Options,
    facts: &RunFacts,
    past: &[Turn],
    observer: &mut dyn Observer,
) -> io::Result<Finish> {
    let mut run = Run { stage: Stage::new(options)?, facts, observer, start: Instant::now() };
    references::set_up(options);
    let went = run.go(plan, past);
    run.observer.spent(run.stage.ledger.so_far());
    references::end();
    match went {
        Ok(finish) => Ok(finish),
        Err(Stop::Interrupted) => Ok(Finish::Interrupted),
        Err(Stop::Own(error)) => Err(error),
        Err(Stop::Row(failure)) => Err(io::Error::other(failure.why)),
    }
}

/// Processes at a device are started so many sets before their own.
const AHEAD: usize = 3;

/// A run under way.
struct Run<'a> {
    stage: Stage<'a>,
    facts: &'a RunFacts,
    observer: &'a mut dyn Observer,
    start: Instant,
}

impl Run<'_> {
    fn go(&mut self, plan: &Plan, past: &[Turn]) -> Result<Finish, Stop> {
        let mut finish = Finish::Complete;
        let mut tested = BTreeMap::new();
        let mut contests = Vec::new();
        for planned in &plan.cases {
            if self.is_out_of_time() {
                finish = Finish::OutOfTime;
                break;
            }
            self.begin(Step::Gate, &planned.case)?;
            // Whatever ran before it, a case meets the same contents: its rows can be reproduced alone.
            self.stage.draws = Draws::of(self.stage.options.seed, &planned.case.to_string());
            let id = planned.case.to_string();
            let past: Vec<Turn> = past.iter().filter(|turn| turn.case == id).cloned().collect();
            if let Some(mut contest) = self.admit(planned, &past, &mut tested)? {
                contest.resume(&past);
                contest.look(self.stage.options, false);
                self.settle(&mut contest)?;
                contests.push(contest);
            }
        }
        // Sets outside, cases inside: a library that takes seconds to start does so once a set.
        for set in 0.. {
            contests.retain(|contest| !contest.is_over());
            if contests.is_empty() {
                break;
            }
            if self.is_out_of_time() {
                finish = Finish::OutOfTime;
                break;
            }
            self.stage.clear_all();
            self.stage.seat_all(contests.iter().flat_map(Contest::seats));
            let to_come = FEWEST_SETS.saturating_sub(set as usize + 1).clamp(1, AHEAD);
            self.stage.start_ahead(contests.iter().flat_map(Contest::seats), to_come);
            for contest in &mut contests {
                self.begin(Step::Set(set), &contest.planned.case)?;
                if !self.is_out_of_time() {
                    contest.turn(&mut self.stage)?;
                    self.observer.turn(&contest.last_turn(&self.facts.run))?;
                }
                contest.look(self.stage.options, self.is_out_of_time());
                self.settle(contest)?;
            }
            if let Some(effect) = self.stage.options.detect.filter(|_| set + 1 == FEWEST_SETS as u32) {
                self.forecast(&contests, effect);
            }
        }
        Ok(finish)
    }

    /// Says how long the plan will take, by what its first sets took.
    fn forecast(&mut self, contests: &[Contest], effect: f64) {
        let efforts: Vec<Effort> = contests.iter().map(|contest| contest.effort(effect)).collect();
        let sets = efforts.iter().map(|effort| effort.sets).max().unwrap_or(0);
        let time = efforts.iter().map(|effort| effort.time).sum();
        let suffices = sets + FEWEST_SETS < MOST_SIZED;
        self.observer.forecast(Forecast { sets, suffices, time });
    }

    fn begin(&mut self, step: Step, case: &Case) -> Result<(), Stop> {
        if signals::interrupted() {
            return Err(Stop::Interrupted);
        }
        self.observer.begin(step, case);
        Ok(())
    }

    fn is_out_of_time(&self) -> bool {
        self.stage.options.total_budget.is_some_and(|budget| self.start.elapsed() > budget)
    }

    /// Takes a case through gate, proof and pilot; what is left to measure comes back.
    fn admit<'p>(
        &mut self,
        planned: &'p PlannedCase,
        past: &[Turn],
        tested: &mut SelfTests,
    ) -> Result<Option<Contest<'p>>, Stop> {
        let mut lanes = lanes_of(&self.stage, planned, tested);
        // Tensors are made for rows that use them: those of a refused case may fit no memory.
        if lanes.iter().any(Lane::is_live)
            && let Err(Stop::Row(failure)) = self.stage.owner(planned.case.device)
        {
            lanes
                .iter_mut()
                .filter(|lane| lane.is_live())
                .for_each(|lane| lane.fail(&mut self.stage, failure.clone()));
        }
        if let Some(owner) = self.stage.owner(planned.case.device).ok().flatten() {
            let facts = owner.borrow().facts.clone();
            if let Some(bytes) = planned.case.footprint().filter(|bytes| *bytes > facts.memory) {
                let (all, device) = (Bytes(facts.memory), planned.case.device);
                let why = format!("its tensors take {}; `{device}` has {all}", Bytes(bytes));
                let live = lanes.iter_mut().filter(|lane| lane.is_live());
                live.for_each(|lane| lane.fail(&mut self.stage, Failure::new(Status::Refused, why.clone())));
            }
            let text = format!("{}, {}, {}", facts.name, facts.uuid, facts.driver);
            lanes.iter_mut().for_each(|lane| drop(lane.notes.insert("device".to_owned(), text.clone())));
        }
        if lanes.iter().any(Lane::is_live) {
            let stage = &mut self.stage;
            let seats = || lanes.iter().filter(|lane| lane.is_live()).map(|lane| &lane.seat);
            stage.seat_all(seats());
            if stage.options.budget.is_some() {
                stage.start_ahead(seats(), AHEAD);
            }
            gate::pass(stage, &planned.case, &mut lanes, &|_| true)?;
            let mut instance = proof::instance(stage, &planned.case, &lanes)?;
            proof::prove_all(stage, &mut lanes, &mut instance, |_| true)?;
            // A lane that was slow in the gate and is not goes through all that it missed.
            if lanes.iter().any(Lane::turned_fast) {
                gate::pass(stage, &planned.case, &mut lanes, &Lane::turned_fast)?;
                proof::prove_all(stage, &mut lanes, &mut instance, Lane::turned_fast)?;
                lanes.iter_mut().filter(|lane| lane.turned_fast()).for_each(|lane| lane.missed.clear());
            }
            if stage.options.budget.is_some() {
                match Contest::start(stage, planned, lanes, &mut instance, past)? {
                    Start::Contest(mut contest) => {
                        proof::release_all(stage, &mut contest.lanes, &instance)?;
                        return Ok(Some(contest));
                    }
                    Start::NothingLeft(unmeasured) => lanes = unmeasured,
                }
            }
            proof::release_all(stage, &mut lanes, &instance)?;
            lanes.iter_mut().for_each(Lane::not_timed);
        }
        for lane in &mut lanes {
            self.record(planned, lane, None)?;
        }
        self.observer.end(&planned.case)?;
        Ok(None)
    }

    /// Writes the records of lanes that are finished.
    fn settle(&mut self, contest: &mut Contest) -> Result<(), Stop> {
        // Nothing is compared with a hub that cannot be believed.
        if !contest.finished().is_empty() {
            contest.conclude_hub(&mut self.stage);
        }
        if contest.is_over() {
            contest.close();
        }
        for index in contest.finished() {
            contest.conclude(&mut self.stage, index);
        }
        // Those that are measured anew are finished no longer.
        for index in contest.finished() {
            let rounds = contest.rounds_of(index, self.stage.options.delta);
            let planned = contest.planned;
            self.record(planned, &mut contest.lanes[index], rounds)?;
        }
        if contest.is_over() {
            self.observer.end(&contest.planned.case)?;
        }
        Ok(())
    }

    fn record(&mut self, planned: &PlannedCase, lane: &mut Lane, rounds: Option<Rounds>) -> Result<(), Stop> {
        // A reference that was interrupted says nothing of the row.
        let is_refused = lane.failure.as_ref().is_some_and(|failure| failure.status == Status::Refused);
        if is_refused && signals::interrupted() {
            return Err(Stop::Interrupted);
        }
        lane.is_recorded = true;
        standings::note(&planned.case, lane);
        let rounds = demand_held(lane, self.stage.options).then_some(rounds).flatten();
        let stamp = self.observer.stamp();
        let record = record(planned, lane, rounds, self.stage.options, self.facts, stamp);
        Ok(self.observer.record(record)?)
    }
}

/// Fails a row whose evidence is weaker than the run demands; whether it may keep what was measured.
fn demand_held(lane: &mut Lane, options: &Options) -> bool {
    let weaker = |checked: Checked| {
        (checked.standing == Standing::Weaker).then(|| format!("{} ({})", checked.check, checked.why))
    };
    let weaker: Vec<String> = lane.checks().into_iter().filter_map(weaker).collect();
    if !options.require_held || weaker.is_empty() {
        return true;
    }
    let why = format!("weaker than `--require-evidence held` demands: {}", weaker.join(", "));
    lane.failure = Some(Failure::new(Status::Suspect, why));
    lane.samples.clear();
    false
}

/// Outcomes of the gate's self-test, by form and precision.
type SelfTests = BTreeMap<String, Tested>;

/// What was found of one form, precision and parameters, before its first case.
#[derive(Clone, Default)]
struct Tested {
    /// What is wrong with the gate.
    broken: Option<String>,
    definition: Option<String>,
}

/// A lane for every row; those that cannot take part say why.
fn lanes_of(stage: &Stage, planned: &PlannedCase, tested: &mut SelfTests) -> Vec<Lane> {
    let case = &planned.case;
    let absent = (!planned.has_device).then(|| format!("there is no device `{}`", case.device));
    let refused = refusal(case, stage.options.limits.memory).or(absent);
    // A case that is refused is not computed on.
    let tested = if refused.is_none() { test(stage, case, tested) } else { Tested::default() };
    let refusal = refused.or(tested.broken);
    let lane = |row: &PlannedRow| {
        let mut lane = Lane::new(&row.implementation, &row.runner, case, stage.options.seed);
        lane.definition.clone_from(&tested.definition);
        lane.condition.clone_from(&row.requires);
        if !lane.condition.is_empty() {
            lane.notes.insert("requires".to_owned(), lane.condition.to_string());
        }
        if let Judged::Own(own) = case.operation.judged {
            note_own(&mut lane, own);
        }
        if let Some(lacks) = &row.lacks {
            let why = format!("`{}` {lacks}", row.implementation);
            lane.failure = Some(Failure::new(Status::Unsupported, why));
        } else if let Err(why) = row.requires.admits(case) {
            lane.failure = Some(Failure::new(Status::Unsupported, why));
        } else if let Some(why) = &refusal {
            lane.failure = Some(Failure::new(Status::Refused, why.clone()));
        }
        lane
    };
    planned.rows.iter().map(lane).collect()
}

/// Says that the mathematics of a row is its user's own.
fn note_own(lane: &mut Lane, own: &Own) {
    let (Declarer { runner, version }, bound) = (&own.by, &own.declaration.bound);
    lane.notes.insert("operation".to_owned(), format!("declared by `{runner}`, {version}; bound {bound}"));
    let mut why = format!("the reference is the user's own, of `{runner}`");
    if !own.model.is_derived() {
        why += &format!("; so is the bound, `{bound}`, which nobody derived");
    }
    lane.weaker(Check::Bound, why);
}

/// Why the conductor will not work on a case.
pub fn refusal(case: &Case, memory: u64) -> Option<String> {
    match case.footprint() {
        // An axis may be zero, as padding is, where no tensor is.
        Some(_) if (case.operation.tensors)(case).iter().any(|tensor| tensor.elements() == 0) => {
            return Some("has a size of zero".to_owned());
        }
        Some(bytes) if bytes <= memory => {}
        Some(bytes) => {
            return Some(format!("its tensors take {}; {} is the limit", Bytes(bytes), Bytes(memory)));
        }
        None => return Some("its tensors are larger than any memory".to_owned()),
    }
    if cores_for(case.threads).is_none() {
        let cores = available_cores().len();
        return Some(format!("asks for {} threads; {cores} may be used", case.threads));
    }
    if case.cache == Cache::Cold && case.is_restored() {
        return Some(
            "what it works on in place is in the caches: it is copied there before each launch".to_owned(),
        );
    }
    (case.cache == Cache::Cold && !device::of(case.device).has_flush)
        .then(|| format!("caches of `{}` cannot be emptied", case.device))
}

/// Runs the gate's self-test once for each form, precision and parameters, and names what they mean.
fn test(stage: &Stage, case: &Case, tested: &mut SelfTests) -> Tested {
    let params: Vec<String> = case.given().map(|(param, value)| format!("{}={value}", param.name)).collect();
    let key = format!("{}/{}/{}", case.form(), case.precision, params.join(","));
    let outcome = tested.entry(key).or_insert_with(|| {
        // The study that loosens the bound wants to see what then gets through, not this.
        let broken = match gate::catch(|| holes(case, stage.options.seed)) {
            Err(why) => Some(why),
            Ok(holes) if holes.is_empty() => {
                gate::catch(|| check_reach(case, stage.options.seed)).and_then(|reach| reach).err()
            }
            Ok(holes) => Some(format!("the gate's self-test failed: {}", holes.join("; "))),
        };
        let definition = broken.is_none().then(|| gate::catch(|| definition(case)).ok()).flatten();
        Tested { broken, definition }
    });
    outcome.clone()
}

/// What the gate's self-test finds at a seed and at two more: the numbers of one may hide a mistake, those of three
/// do not.
fn holes(case: &Case, seed: u64) -> Vec<String> {
    let mut holes = self_test(case, seed, 1.0).broken;
    for more in 1..3 {
        if !holes.is_empty() {
            let again = self_test(case, seed.wrapping_add(more), 1.0).broken;
            holes.retain(|hole| again.contains(hole));
        }
    }
    holes
}

fn record(
    planned: &PlannedCase,
    lane: &mut Lane,
    rounds: Option<Rounds>,
    options: &Options,
    facts: &RunFacts,
    (id, at): (String, String),
) -> Record {
    let case = &planned.case;
    let is_its_own =
        |row: &&PlannedRow| row.implementation == lane.seat.implementation && row.runner == lane.seat.runner;
    let asked = planned.rows.iter().find(is_its_own).filter(|row| row.is_compared);
    let (status, why) = match &lane.failure {
        Some(failure) => (failure.status, failure.why.clone()),
        None => (Status::Ok, String::new()),
    };
    if case.cache == Cache::Cold {
        let how = match device::of(case.device).queue {
            None => "before every timed launch the tensors' lines are flushed from all caches",
            Some(_) => {
                "launches take turns with sets of tensors of three times the cache, or all caches are emptied first"
            }
        };
        lane.notes.insert("cache".to_owned(), how.to_owned());
    }
    Record {
        schema: SCHEMA,
        id,
        run: facts.run.clone(),
        at,
        case: case.to_string(),
        implementation: lane.seat.implementation.clone(),
        status,
        why,
        reproduce: reproduce(case, lane, options, status),
        place: None,
        against: asked.and(planned.against.clone()),
        work: case.footprint().map(|_| (case.operation.work)(case)).unwrap_or_default(),
        gate: Gate { replay: replay(case, lane, options), ..lane.gate.clone() },
        samples: std::mem::take(&mut lane.samples),
        rounds,
        evidence: Evidence { checks: lane.checks(), ..lane.evidence.clone() },
        provenance: Provenance {
            roofline: env!("CARGO_PKG_VERSION").to_owned(),
            runner: lane.seat.runner.clone(),
            runner_version: lane.runner_version.clone(),
            machine: facts.machine.clone(),
            seed: options.seed,
            notes: notes(lane, options),
            definition: lane.definition.clone(),
            imported: None,
        },
    }
}

/// The notes of a row, with the environment that its runner was given on top of its own.
fn notes(lane: &Lane, options: &Options) -> BTreeMap<String, String> {
    let mut notes = lane.notes.clone();
    notes.extend(lane.card.notes());
    let spec = options.runners.iter().find(|spec| spec.name == lane.seat.runner);
    let asked = spec.map(|spec| spec.asked.iter().map(|(name, value)| format!("{name}={value}")));
    let asked: Vec<String> = asked.into_iter().flatten().collect();
    if !asked.is_empty() {
        notes.insert("environment".to_owned(), asked.join(" "));
    }
    notes
}

/// The command that shows a row again, with what decided its status.
fn reproduce(case: &Case, lane: &Lane, options: &Options, status: Status) -> String {
    let verb = if options.budget.is_some() { "run" } else { "check" };
    let mut command = format!("roofline {verb} {case} -i {}", lane.seat.implementation);
    command += &runner_options(case, lane, options);
    match status {
        Status::Timeout => command += &format!(" --timeout {}ms", options.limits.patience.as_millis()),
        Status::OutOfMemory => command += &format!(" --memory {}", options.limits.memory),
        _ => {}
    }
    command + &format!(" --seed {}", options.seed)
}

/// The options that bring a row's runner into a command, and the one that declares its operation.
fn runner_options(case: &Case, lane: &Lane, options: &Options) -> String {
    let declarer = match case.operation.judged {
        Judged::Own(own) if own.by.runner != lane.seat.runner => runner_option(&own.by.runner, options),
        _ => String::new(),
    };
    runner_option(&lane.seat.runner, options) + &declarer
}

fn runner_option(runner: &str, options: &Options) -> String {
    if RESERVED.contains(&runner) {
        return String::new();
    }
    let spec = options.runners.iter().find(|spec| spec.name == runner);
    let place = match spec.and_then(|spec| spec.named.as_ref()) {
        Some((option, path)) => format!(" {option} {}", quoted(&path.display().to_string())),
        None => format!(" --runner {runner}"),
    };
    let asked = spec.into_iter().flat_map(|spec| &spec.asked);
    let asked: String =
        asked.map(|(name, value)| format!(" --env {}", quoted(&format!("{name}={value}")))).collect();
    place + &asked
}

/// The command that writes the tensors of a failure in the gate as files.
fn replay(of: &Case, lane: &Lane, options: &Options) -> String {
    let Some(seen) = lane.failure.as_ref().and_then(|failure| failure.seen_on.as_deref()) else {
        return String::new();
    };
    let SeenOn { case, placement, fill, seed } = seen;
    let row = format!("{case}@{}{}", lane.own_name, runner_options(of, lane, options));
    format!("roofline job {row} --placement {placement} --fill {fill} --seed {seed}")
}
