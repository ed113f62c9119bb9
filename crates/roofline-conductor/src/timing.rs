//! What corroborates a runner's times: the conductor's clock, hardware's ceiling, an audit.
//!
//! A runner's own clock is a claim. It can make itself look slower against the conductor's clock,
//! never faster, as long as the outputs of what it was asked for are judged.

use crate::audit::{self, Usage};
use crate::checks::Check;
use crate::failure::{Failure, Stop};
use crate::lane::Lane;
use crate::session::Session;
use crate::stage::Stage;
use crate::sys::process::cpu_time;
use roofline_core::case::{Case, Device};
use roofline_core::protocol::{Ask, OutputMode, Visited};
use roofline_core::record::{Grade, Status};
use roofline_core::stats::median;
use roofline_core::turn::Doubling;
use roofline_core::units::{Bytes, Seconds};
use std::time::{Duration, Instant};

/// Pairs of n and 2n launches by which the conductor's clock is held against the runner's.
const PAIRS: usize = 5;

/// Tests in a row that a runner must fail to be called a liar.
const TESTS: usize = 3;

/// Long launches make do with fewer pairs.
const LONGEST_TEST: Duration = Duration::from_millis(500);

/// A batch that is held against the conductor's clock lasts about this long.
const DOUBLED: Duration = Duration::from_millis(2);

/// So many times the launches, where each visit ends with the copy of an output.
const FRESH_LAUNCHES: u32 = 4;

/// Share of the conductor's time that a claim must reach.
const LEAST_SHARE: f64 = 0.9;

/// Slack of one launch in a batch: what the conversation's cost may vary by, but never over 5 µs.
fn slack(batch: u32) -> f64 {
    (200e-6 / f64::from(batch)).min(5e-6)
}

/// Bytes and operations a second beyond what any core does today: the data path of two vector loads and a
/// store a cycle, and the widest matrix unit. A claim beyond this is not fast, it is impossible.
const CEILING_OF_CORE: (f64, f64) = (1e12, 2e13);
/// The same of a whole GPU: its second cache, and its matrix units on the narrowest type.
const CEILING_OF_GPU: (f64, f64) = (5e13, 5e16);

/// Launches that take about `length`.
pub fn batch_for(length: Duration, launch: Duration) -> u32 {
    let launch = launch.as_secs_f64().max(20e-9);
    (length.as_secs_f64() / launch).ceil().clamp(1.0, 1e6) as u32
}

/// A visit with its duration by the conductor's clock.
pub struct Visit {
    pub claimed: Vec<f64>,
    pub wall: Duration,
    /// The part of the wall in which runner or conductor waited for a core.
    pub waited: Duration,
    /// CPU time of the runner's busiest thread, and of all that it has had.
    pub busiest: Duration,
    pub cpu: Duration,
    /// What copying a fresh output took.
    pub copy: Option<Seconds>,
}

impl Visit {
    /// Seconds that passed here, in no sample, and that no waiting for a core explains; or seconds
    /// that one thread worked beyond what the runner claims, which no load on the machine can hide.
    fn unclaimed(&self) -> f64 {
        let claimed = self.claimed.iter().sum::<f64>() * 1e-9;
        let passed = self.wall.as_secs_f64() - claimed - self.waited.as_secs_f64();
        passed.max(self.busiest.as_secs_f64() - claimed).max(0.0)
    }

    /// What a visit of long launches says by itself: the conversation is lost in them.
    pub fn as_doubling(&self, (_, samples, batch): Shape) -> Doubling {
        let launches = f64::from(samples * batch);
        Doubling {
            batch,
            claimed: Seconds(self.claimed.iter().sum::<f64>() * 1e-9 / launches),
            unclaimed: Seconds(self.unclaimed() / launches),
        }
    }
}

/// What a visit is asked for: warm-up launches, samples, launches of a sample.
pub type Shape = (u32, u32, u32);

/// Asks for one visit and takes the runner's word; nothing else happens meanwhile.
pub fn sample(stage: &mut Stage, lane: &Lane, shape: Shape) -> Result<Vec<f64>, Stop> {
    ask(stage, lane, shape, Duration::from_millis(50), || {}).map(|visited| visited.nanoseconds)
}

fn ask(
    stage: &mut Stage,
    lane: &Lane,
    (warmup, samples, batch): Shape,
    tick: Duration,
    meanwhile: impl FnMut(),
) -> Result<Visited, Stop> {
    let launches = warmup + samples * batch;
    // A launch is known to end within the patience; many may take their sum, up to a point.
    let patience = stage.options.limits.patience * launches.clamp(1, 10);
    let ask = Ask::Visit { warmup, samples, batch };
    let visited: Visited = stage.ask_while(&lane.seat, ask, &[], patience, tick, meanwhile)?;
    if let Err(breach) = visited.validate(samples) {
        return Err(Failure::new(Status::Protocol, breach.to_string()).into());
    }
    check_float_mode(stage, visited.float_mode_changed)?;
    Ok(visited)
}

/// Asks for one visit and times it from outside.
pub fn visit(
    stage: &mut Stage,
    lane: &Lane,
    shape: Shape,
    tick: Duration,
    meanwhile: impl FnMut(),
) -> Result<Visit, Stop> {
    let pid = stage.session(&lane.seat).map_or(0, |session| session.pid);
    let before = (Usage::of(pid), Usage::of_this_thread(), cpu_time(pid));
    let start = Instant::now();
    let visited = ask(stage, lane, shape, tick, meanwhile)?;
    let wall = start.elapsed();
    let cpu = cpu_time(pid).zip(before.2).map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then));
    let after = (Usage::of(pid), Usage::of_this_thread());
    let waited = after.0.waited_since(&before.0) + after.1.waited_since(&before.1);
    let busiest = after.0.since(&before.0).first().copied().unwrap_or_default();
    // A runner's word, but no copy takes longer than the visit that it is in.
    let copy = visited.copy_nanoseconds.map(|copy| Seconds((copy * 1e-9).clamp(0.0, wall.as_secs_f64())));
    Ok(Visit { claimed: visited.nanoseconds, wall, waited, busiest, cpu, copy })
}

pub fn check_float_mode(stage: &Stage, changed: bool) -> Result<(), Stop> {
    if changed && stage.options.checks.on(Check::FloatMode) {
        return Err(Failure::new(Status::Suspect, "left the rounding or flush-to-zero mode changed").into());
    }
    Ok(())
}

/// Holds the runner's clock against the conductor's, over n and 2n launches of about `launch` each.
pub fn corroborate(stage: &mut Stage, lane: &mut Lane, batch: u32, launch: Duration) -> Result<(), Stop> {
    let affordable = (LONGEST_TEST.as_secs_f64() / (3.0 * f64::from(batch) * launch.as_secs_f64())) as usize;
    let mut outcome = Ok(());
    // Whoever lies does so every time; a busy machine disturbs now and then.
    for _ in 0..TESTS {
        let doublings = (0..affordable.clamp(1, PAIRS))
            .map(|_| double(stage, lane, batch))
            .collect::<Result<Vec<Doubling>, Stop>>()?;
        outcome = believe(stage, lane, &doublings);
        if outcome.is_ok() {
            break;
        }
    }
    Ok(outcome?)
}

/// How long n launches take that are doubled: no less than the copy of a fresh output, which is now a little
/// faster and now slower, and must not outweigh them.
pub fn length_to_double(lane: &Lane) -> Duration {
    let copy = lane.evidence.copy.map_or(0.0, |copy| copy.0).min(LONGEST_TEST.as_secs_f64());
    DOUBLED.max(Duration::from_secs_f64(copy))
}

/// One visit of n and one of 2n launches.
///
/// What counts is the time of a visit that the runner does not claim. The difference between 2n and
/// n launches is free of the cost of the conversation, and time in which somebody waited for a core
/// is not held against the runner: a machine that is busy or slows down makes nobody a liar.
pub fn double(stage: &mut Stage, lane: &Lane, batch: u32) -> Result<Doubling, Stop> {
    // A fresh output is copied once a visit, now a little faster and now slower: more launches thin that out.
    let batch = if lane.evidence.output == OutputMode::Fresh { FRESH_LAUNCHES * batch } else { batch };
    let once = visit(stage, lane, (0, 1, batch), Duration::from_millis(50), || {})?;
    let twice = visit(stage, lane, (0, 1, 2 * batch), Duration::from_millis(50), || {})?;
    Ok(Doubling {
        batch,
        claimed: Seconds(twice.claimed[0] * 1e-9 / f64::from(2 * batch)),
        unclaimed: Seconds((twice.unclaimed() - once.unclaimed()) / f64::from(batch)),
    })
}

/// Grades a lane by the medians of its doublings; one-sided, for nobody gains by claiming more.
pub fn believe(stage: &Stage, lane: &mut Lane, doublings: &[Doubling]) -> Result<(), Failure> {
    let claimed: Vec<f64> = doublings.iter().map(|doubling| doubling.claimed.0).collect();
    let unclaimed: Vec<f64> = doublings.iter().map(|doubling| doubling.unclaimed.0).collect();
    let batch = doublings.iter().map(|doubling| doubling.batch).min().unwrap_or(1);
    let (Some(unclaimed), Some(claim)) = (median(&unclaimed), median(&claimed)) else { return Ok(()) };
    let wall = claim + unclaimed.max(0.0);
    lane.evidence.wall_per_launch = Some(Seconds(wall));
    if claim >= LEAST_SHARE * wall - slack(batch) {
        lane.evidence.grade = Grade::Corroborated;
        return Ok(());
    }
    if !stage.options.checks.on(Check::WallClock) {
        return Ok(());
    }
    let why =
        format!("claims {} a launch where the conductor's clock shows {}", Seconds(claim), Seconds(wall));
    Err(Failure::new(Status::Suspect, why))
}

/// Refuses times that no hardware reaches.
pub fn check_ceiling(stage: &Stage, lane: &Lane, case: &Case, claimed: Seconds) -> Result<(), Failure> {
    let work = (case.operation.work)(case);
    let (units, (bytes, flops)) = match case.device {
        Device::Cpu => (f64::from(lane.seat.threads.max(1)), CEILING_OF_CORE),
        Device::Cuda(_) => (1.0, CEILING_OF_GPU),
    };
    let traffic = work.traffic().0 as f64 / (bytes * units);
    let compute = work.flops() as f64 / (flops * units);
    let least = Seconds(traffic.max(compute));
    if stage.options.checks.on(Check::Ceiling) && claimed < least {
        let why = format!("claims {claimed} a launch; no hardware does this work in less than {least}");
        return Err(Failure::new(Status::Suspect, why));
    }
    Ok(())
}

/// Checks what the process used in a visit, and what it has left behind.
pub fn audit(
    stage: &mut Stage,
    lane: &mut Lane,
    case: &Case,
    before: &Usage,
    visit: &Visit,
) -> Result<(), Stop> {
    let Some(pid) = stage.session(&lane.seat).map(|session| session.pid) else { return Ok(()) };
    let spent = Usage::of(pid).since(before);
    let working = audit::threads_at_work(&spent, visit.wall);
    lane.evidence.threads_seen = lane.evidence.threads_seen.max(working);
    let share = visit.cpu.as_secs_f64() / visit.wall.as_secs_f64();
    lane.evidence.cpu_share = Some(lane.evidence.cpu_share.unwrap_or(0.0).max(share));
    lane.evidence.peak_memory = audit::peak_memory(pid).map(Bytes);
    let allowed = lane.seat.threads;
    let suspect = |why: String| Err(Failure::new(Status::Suspect, why).into());
    // Where another device computes, threads only ask it to and wait.
    if stage.options.checks.on(Check::Threads) && case.device == Device::Cpu {
        if working > allowed {
            return suspect(format!("{working} threads were at work; {allowed} are allowed"));
        }
        if audit::leaves_cores(pid, &crate::stage::cores_for(allowed).unwrap_or_default()) {
            return suspect("a thread left the cores that it was given".to_owned());
        }
        // The process's own clock knows the threads that have ended as well; and unlike a share of
        // the wall, it does not depend on who else wants the cores.
        let by_allowed: Duration = spent.iter().take(allowed as usize).sum();
        let by_others = visit.cpu.saturating_sub(by_allowed);
        if by_others > visit.cpu / 10 + Duration::from_millis(1) {
            let why =
                format!("spent {by_others:.1?} of CPU time on other threads than the {allowed} allowed");
            return suspect(why);
        }
    }
    if stage.options.checks.on(Check::Children) {
        let left = stage.session(&lane.seat).map_or(0, Session::left_running);
        if left > 0 {
            return suspect(format!("left {left} process(es) running"));
        }
        let sockets = audit::internet_sockets(pid);
        if sockets > 0 {
            return suspect(format!("holds {sockets} internet socket(s) open"));
        }
    }
    Ok(())
}

/// Waits until a process that is not being measured has used no CPU for the length of `rest`.
pub fn wait_until_quiet(stage: &Stage, lane: &Lane, rest: Duration) -> Result<(), Failure> {
    let Some(pid) = stage.session(&lane.seat).map(|session| session.pid) else { return Ok(()) };
    let deadline = Instant::now() + LONGEST_UNREST;
    let mut before = Usage::of(pid);
    loop {
        std::thread::sleep(rest);
        let now = Usage::of(pid);
        let spent: Duration = now.since(&before).iter().sum();
        // The answer itself may still be on its way out of the process; one that would run, had it a core,
        // uses no time and is not quiet either.
        if spent < Duration::from_micros(20) && !audit::is_runnable(pid) {
            return Ok(());
        }
        if Instant::now() > deadline {
            if stage.options.checks.on(Check::Idle) {
                return Err(Failure::new(
                    Status::Suspect,
                    "keeps using CPU time after its launch has returned",
                ));
            }
            return Ok(());
        }
        before = now;
    }
}

/// Waits until a pool that still spins after its answer has gone to sleep: tens of microseconds for
/// one that parks, as long as a library spins otherwise.
pub fn rest(stage: &Stage, lane: &Lane) {
    if lane.evidence.threads <= 1 {
        return;
    }
    let Some(pid) = stage.session(&lane.seat).map(|session| session.pid) else { return };
    let deadline = Instant::now() + LONGEST_UNREST;
    let mut before = cpu_time(pid);
    while Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(20));
        let now = cpu_time(pid);
        let spent = now.zip(before).map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then));
        if spent < Duration::from_micros(2) {
            return;
        }
        before = now;
    }
}

/// Libraries' pools spin for up to 130 ms after a call.
const LONGEST_UNREST: Duration = Duration::from_millis(400);
