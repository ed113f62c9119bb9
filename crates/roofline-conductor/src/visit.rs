//! One visit, held to all that a visit can be held to.
//!
//! No visit vouches for another: whatever a runner can tell apart, every visit has its [marks](crate::marks),
//! is timed by the conductor and by the process's CPU clock, and may be judged when its answer is there.

use crate::audit::{Times, Usage};
use crate::checks::Check;
use crate::failure::{Failure, Stop};
use crate::instance::Instance;
use crate::lane::Lane;
use crate::marks::{Asked, Marks};
use crate::shape::Shape;
use crate::stage::{Seat, Stage};
use crate::sys::process::cpu_time;
use crate::{gate, pilot, timing};
use roofline_core::case::Case;
use roofline_core::judge::Judgement;
use roofline_core::protocol::{OutputMode, Visited};
use roofline_core::record::Status;
use roofline_core::turn::Clocked;
use roofline_core::units::Seconds;
use std::time::{Duration, Instant};

/// Judging takes about this share of the time of visits, and one visit in so many at the least.
const JUDGING_SHARE: f64 = 0.05;
const RAREST_JUDGEMENT: f64 = 0.02;

/// A process may use so much CPU time when it is not its turn: in another's visit before that counts as disturbed, and
/// while its inputs are filled.
pub const UNREST: Duration = Duration::from_micros(50);

/// How the conductor waits for an answer.
const TICK: Duration = Duration::from_millis(50);

/// A visit as the conductor saw it.
#[derive(Debug)]
pub struct Seen {
    pub shape: Shape,
    /// When it began.
    pub at: Instant,
    /// Nanoseconds of each sample, as the runner says.
    pub claimed: Vec<f64>,
    /// What copying a fresh output took a sample, as the runner says.
    pub copy: Option<Seconds>,
    pub wall: Duration,
    /// From before its CPU clocks were read for the first time until after the second: whatever stops the conductor
    /// in between, a process has no more CPU time than this on each core.
    pub span: Duration,
    /// CPU time of all threads that the process has had, less what the first has on its account beyond the span:
    /// virtual machines now and then count a stretch twice.
    pub cpu: Duration,
    /// What its busiest thread has had of that, and waited for a core; of one thread, which is on the account of the
    /// first, all of it.
    pub busiest: Times,
    /// Whether it may have others.
    has_others: bool,
    /// Time that any of its threads or the conductor waited for a core.
    pub waited: Duration,
    /// CPU clocks of the other processes when it began.
    others: Vec<Duration>,
    /// Who worked meanwhile although it was not their turn.
    pub disturbed_by: Vec<Seat>,
}

impl Seen {
    /// Seconds of all samples.
    pub fn claimed_total(&self) -> f64 {
        self.claimed.iter().sum::<f64>() * 1e-9
    }

    /// Seconds of one launch, as claimed.
    pub fn per_launch(&self) -> f64 {
        self.claimed_total() / f64::from(self.shape.timed().max(1))
    }

    /// Seconds of a clock that passed in no sample and no copy; launches that are not timed count as the others.
    pub fn unclaimed(&self, clock: Duration) -> f64 {
        let copies = self.copy.map_or(0.0, |copy| copy.0 * f64::from(self.shape.samples));
        let launches = self.per_launch() * f64::from(self.shape.launches());
        clock.as_secs_f64() - launches - copies
    }

    /// Seconds of one copy, as the runner says: there is one a sample, and where outputs are restored one a launch.
    pub fn copy_each(&self, case: &Case) -> Option<f64> {
        let copies = if case.is_restored() { self.shape.batch } else { 1 };
        self.copy.map(|copy| copy.0 / f64::from(copies))
    }

    /// What it says of the runner's clock.
    pub fn clocked(&self) -> Clocked {
        let launches = f64::from(self.shape.launches().max(1));
        Clocked {
            claimed: self.per_launch(),
            computed: self.per_launch().min(self.cpu.as_secs_f64() / launches),
            wall: self.unclaimed(self.wall),
            cpu: self.unclaimed(self.busiest.ran),
            delayed: self.busiest.waited.as_secs_f64(),
            waited: self.waited.as_secs_f64(),
            others: self.has_others.then(|| self.others_worked()),
        }
    }

    /// CPU time of all threads but the busiest, as a share of what passed: also of those that have ended meanwhile, of
    /// which nothing else is known.
    fn others_worked(&self) -> f64 {
        self.cpu.saturating_sub(self.busiest.ran).as_secs_f64() / self.span.as_secs_f64().max(1e-9)
    }
}

/// Asks for a visit and holds it to its marks and clocks.
pub fn take(stage: &mut Stage, lane: &mut Lane, instance: &mut Instance, shape: Shape) -> Result<Seen, Stop> {
    in_a_set(stage, lane, instance, shape, |stage, lane, instance| {
        let (seen, marks) = ask(stage, lane, instance, shape)?;
        let lot = judging_lot(stage, lane, seen.wall);
        settle(stage, lane, instance, seen, &marks, Asked::by(lot))
    })
}

/// Marks and judges a visit in one of the sets that its launches take turns with, by lot; gives the turn back.
fn in_a_set(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    shape: Shape,
    visit: impl FnOnce(&mut Stage, &mut Lane, &mut Instance) -> Result<Seen, Stop>,
) -> Result<Seen, Stop> {
    let met = instance.sets().min(shape.in_a_row() as usize);
    if met > 1 {
        instance.turn(stage.draws.below(met as u64) as usize);
    }
    let seen = visit(stage, lane, instance);
    instance.turn(0);
    seen
}

/// The same, and judged whatever the lot says.
pub fn take_judged(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    shape: Shape,
) -> Result<Seen, Stop> {
    in_a_set(stage, lane, instance, shape, |stage, lane, instance| {
        let (seen, marks) = ask(stage, lane, instance, shape)?;
        settle(stage, lane, instance, seen, &marks, Asked::Values)
    })
}

fn ask(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    shape: Shape,
) -> Result<(Seen, Marks), Stop> {
    let marks = Marks::set(stage, instance, lane.gate.visits);
    pilot::flush_if_cold(instance);
    let seen = converse(stage, lane, shape, TICK, || {})?;
    let copies = lane.evidence.output == OutputMode::Fresh || instance.case.is_restored();
    if seen.copy.is_some() && !copies {
        let why = "reports copies of an output that is written where it belongs";
        return Err(Failure::new(Status::Suspect, why).into());
    }
    Ok((seen, marks))
}

/// Asks for a visit with `beside` going on until the answer is there: every `tick`, all the time if that is zero.
pub fn converse(
    stage: &mut Stage,
    lane: &mut Lane,
    shape: Shape,
    tick: Duration,
    beside: impl FnMut(),
) -> Result<Seen, Stop> {
    // A launch is known to end within the patience; many may take their sum, up to a point.
    let patience = stage.options.limits.patience * shape.launches().clamp(1, 10);
    timing::rest_before(stage, lane);
    let pid = stage.session(&lane.seat).map_or(0, |session| session.pid);
    let others = stage.clocks_of_others(&lane.seat);
    // Of one thread the accounts below say all.
    let usage = || (lane.seat.threads > 1).then(|| Usage::of(pid));
    let used = usage();
    let before = Instant::now();
    let accounts = stage.accounts(&lane.seat);
    let cpu = cpu_time(pid);
    let at = Instant::now();
    let visited: Visited = stage.ask_while(&lane.seat, shape.ask(), &[], patience, tick, beside)?;
    let wall = at.elapsed();
    let cpu = cpu_time(pid).zip(cpu).map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then));
    let [first, own] = stage.accounts(&lane.seat);
    let (first, own) = (first.since(accounts[0]), own.since(accounts[1]));
    let span = before.elapsed();
    let threads = usage().zip(used).map(|(now, then)| now.since(&then)).unwrap_or_default();
    let pool: Duration = threads.iter().map(|times| times.waited).sum();
    let cpu = spent(cpu, first.ran, span);
    let has_others = lane.seat.threads > 1;
    let busiest = match threads.first() {
        // Threads are looked at for a moment longer, in which one may go on.
        Some(busiest) => Times { ran: busiest.ran.min(span), ..*busiest },
        None if has_others => Times::default(),
        None => Times { ran: cpu, ..first },
    };
    timing::check_float_mode(stage, visited.float_mode_changed)?;
    lane.gate.visits = lane.gate.visits.saturating_add(1);
    lane.took(shape.launches(), wall);
    if let Some(host) = visited.host_nanoseconds {
        lane.notes.insert("host".to_owned(), format!("{:.1} µs a launch", host * 1e-3));
    }
    let copy = visited.copy_nanoseconds.map(|copy| Seconds(copy * 1e-9));
    let waited = first.waited.max(pool) + own.waited;
    let disturbed_by = stage.moved(&lane.seat, &others, UNREST.max(wall / 50));
    Ok(Seen {
        shape,
        at,
        claimed: visited.nanoseconds,
        copy,
        wall,
        span,
        cpu,
        busiest,
        has_others,
        waited,
        others,
        disturbed_by,
    })
}

/// CPU time of a process without what its first thread has beyond the time that passed, in which no thread can run.
fn spent(cpu: Duration, first: Duration, span: Duration) -> Duration {
    cpu.saturating_sub(first.saturating_sub(span))
}

/// Whether a visit of this length is judged: by lot, as often as the time allows.
pub fn judging_lot(stage: &mut Stage, lane: &Lane, visit: Duration) -> bool {
    let affordable = JUDGING_SHARE * visit.as_secs_f64() / lane.judging.as_secs_f64().max(1e-9);
    stage.draws.below(1 << 20) as f64 <= f64::from(1 << 20) * affordable.clamp(RAREST_JUDGEMENT, 1.0)
}

/// Judges a visit that is over: what was not written at all, what is asked, and what it took of the machine.
pub fn settle(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    mut seen: Seen,
    marks: &Marks,
    asked: Asked,
) -> Result<Seen, Stop> {
    if lane.is_probe() {
        timing::check_cores(stage, lane, &instance.case, &seen)?;
        return Ok(seen);
    }
    let outcome = look(stage, lane, instance, marks, asked);
    if is_wrong(&outcome) {
        // Nothing of one row's fault in another's verdict: whoever moved meanwhile may have written here.
        let moved = stage.moved(&lane.seat, &seen.others, Duration::ZERO);
        if !moved.is_empty() && !is_wrong_alone(stage, lane, instance, seen.shape)? {
            seen.disturbed_by = moved;
            return Ok(seen);
        }
    }
    if let Some(judgement) = outcome? {
        lane.settle(judgement)?;
    }
    timing::check_cores(stage, lane, &instance.case, &seen)?;
    Ok(seen)
}

/// Canaries, poison and what is asked.
fn look(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &Instance,
    marks: &Marks,
    asked: Asked,
) -> Result<Option<Judgement>, Failure> {
    gate::check_canaries(stage, instance)?;
    let asked = match asked {
        Asked::Values => Asked::by(stage.options.checks.on(Check::JudgedVisits)),
        other => other,
    };
    let start = Instant::now();
    let judgement = marks.judge(stage, instance, asked, lane.condition.flushes_denormals)?;
    if asked == Asked::Values {
        lane.gate.judged_visits = lane.gate.judged_visits.saturating_add(1);
        lane.judging = start.elapsed();
    }
    Ok(judgement)
}

/// Whether a visit is wrong while all other processes are stopped.
fn is_wrong_alone(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    shape: Shape,
) -> Result<bool, Stop> {
    stage.stop_others(&lane.seat, true);
    let again = ask(stage, lane, instance, shape);
    let outcome = again.map(|(_, marks)| look(stage, lane, instance, &marks, Asked::Values));
    stage.stop_others(&lane.seat, false);
    Ok(is_wrong(&outcome?))
}

fn is_wrong(outcome: &Result<Option<Judgement>, Failure>) -> bool {
    outcome.as_ref().map_or(true, |judgement| judgement.as_ref().is_some_and(|found| found.failed > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_thread_can_have_run_is_not_counted() {
        let ms = Duration::from_millis;
        assert_eq!(spent(ms(3), ms(3), ms(4)), ms(3));
        // As virtual machines count now and then: one thread, 4 ms in 3.
        assert_eq!(spent(ms(4), ms(4), ms(3)), ms(3));
        // A second thread is counted whatever the first one's account says.
        assert_eq!(spent(ms(6), ms(3), ms(3)), ms(6));
        assert_eq!(spent(ms(7), ms(4), ms(3)), ms(6));
        assert_eq!(spent(ms(5), Duration::ZERO, ms(3)), ms(5), "where the system has no account");
    }
}
