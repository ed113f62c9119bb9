//! What a process uses while it is measured, and what no hardware does.

use crate::audit::{self, Usage};
use crate::checks::Check;
use crate::device::{self, Ceiling};
use crate::failure::{Failure, Stop};
use crate::lane::Lane;
use crate::machine;
use crate::proof;
use crate::session::Session;
use crate::spent::Part;
use crate::stage::Stage;
use crate::sys::process::cpu_time;
use crate::visit::Seen;
use roofline_core::case::Case;
use roofline_core::record::Status;
use roofline_core::units::{Bytes, Seconds};
use std::time::{Duration, Instant};

/// CPU time that a visit may take beyond its cores: what the system adds up late.
const CPU_SLACK: Duration = Duration::from_micros(100);

/// Visits that may take more, however few or many there are: one in so many changes no median.
const MOST_OVERRUNS: u32 = 2;
const RARE: u32 = 20;

/// Sets after which a process may not come to rest.
const MOST_UNRESTS: u32 = 1;

pub fn check_float_mode(stage: &Stage, changed: bool) -> Result<(), Stop> {
    if changed && stage.options.checks.on(Check::FloatMode) {
        return Err(Failure::new(Status::Suspect, "left the rounding or flush-to-zero mode changed").into());
    }
    Ok(())
}

/// Refuses a visit that took more CPU time than the cores that the case allows have.
///
/// Cores are counted and not threads: a library may start a thread for each launch, or let one wait
/// for others, as long as no more work than allowed is done at one time. Whoever may use the whole machine cannot have
/// used more of it: what is beyond is then the host's doing, which stops one clock and not the other.
pub fn check_cores(stage: &Stage, lane: &mut Lane, case: &Case, seen: &Seen) -> Result<(), Failure> {
    let share = seen.cpu.as_secs_f64() / seen.wall.as_secs_f64().max(1e-9);
    lane.evidence.cpu_share = Some(lane.evidence.cpu_share.unwrap_or(0.0).max(share));
    // Where another device computes, threads only ask it to and wait.
    let is_checked = stage.options.checks.on(Check::Threads) && device::of(case.device).works_in_process;
    let allowed = lane.seat.threads.max(1);
    let is_beyond = is_checked
        && seen.cpu > (seen.span * allowed).mul_f64(1.05) + CPU_SLACK
        && machine::threads_online().is_none_or(|online| online > allowed as usize);
    lane.overruns += u32::from(is_beyond);
    // Such a pause may also fall into a visit of whoever may use a part of it.
    if is_beyond && lane.overruns > MOST_OVERRUNS.max(lane.gate.visits / RARE) {
        let why = format!(
            "spent {:.1?} of CPU time in a visit of {:.1?}: more than {allowed} core(s) were at work",
            seen.cpu, seen.span
        );
        return Err(Failure::new(Status::Suspect, why));
    }
    Ok(())
}

/// Refuses times that no hardware reaches.
pub fn check_ceiling(stage: &Stage, lane: &Lane, case: &Case, claimed: Seconds) -> Result<(), Failure> {
    let work = (case.operation.work)(case);
    let Ceiling { bytes, flops, is_per_core } = device::of(case.device).ceiling;
    let units = if is_per_core { f64::from(lane.seat.threads.max(1)) } else { 1.0 };
    let traffic = work.traffic().0 as f64 / (bytes * units);
    let compute = work.flops() as f64 / (flops * units);
    let least = Seconds(traffic.max(compute));
    if stage.options.checks.on(Check::Ceiling) && claimed < least {
        let why = format!("claims {claimed} a launch; no hardware does this work in less than {least}");
        return Err(Failure::new(Status::Suspect, why));
    }
    Ok(())
}

/// Checks what the process used in a visit.
pub fn audit(
    stage: &mut Stage,
    lane: &mut Lane,
    case: &Case,
    before: &Usage,
    seen: &Seen,
) -> Result<(), Stop> {
    let Some(pid) = stage.session(&lane.seat).map(|session| session.pid) else { return Ok(()) };
    let used = Usage::of(pid).since(before);
    let working = audit::threads_at_work(&used, seen.wall);
    lane.evidence.threads_seen = lane.evidence.threads_seen.max(working);
    lane.evidence.peak_memory = audit::peak_memory(pid).map(Bytes);
    if let Some(state) = stage.look_at(case.device) {
        lane.card.saw(state);
    }
    Ok(check_company(stage, lane, case)?)
}

/// Checks where its threads are after a visit, and whom else it has brought along.
pub fn check_company(stage: &Stage, lane: &Lane, case: &Case) -> Result<(), Failure> {
    let Some(pid) = stage.session(&lane.seat).map(|session| session.pid) else { return Ok(()) };
    let suspect = |why: String| Err(Failure::new(Status::Suspect, why));
    let mut strayed = Strayed::new(stage, lane, case);
    strayed.look();
    strayed.settle()?;
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

/// Threads of a runner that are on cores which they were not given.
pub struct Strayed {
    pid: i32,
    cores: Vec<u32>,
    /// Looks stop at the first that is seen.
    found: bool,
    is_on: bool,
}

impl Strayed {
    pub fn new(stage: &Stage, lane: &Lane, case: &Case) -> Strayed {
        let pid = stage.session(&lane.seat).map_or(0, |session| session.pid);
        let cores = crate::stage::cores_for(lane.seat.threads.max(1)).unwrap_or_default();
        let is_on =
            stage.options.checks.on(Check::Threads) && device::of(case.device).works_in_process && pid > 0;
        Strayed { pid, cores, found: false, is_on }
    }

    pub fn look(&mut self) {
        self.found = self.found || self.is_on && audit::leaves_cores(self.pid, &self.cores);
    }

    pub fn settle(&self) -> Result<(), Failure> {
        if self.found {
            let why = "a thread left the cores that it was given; a library that places its threads itself must be told \
                       not to, in `[environment]` of runner.toml: OMP_PROC_BIND=false, KMP_AFFINITY=disabled";
            return Err(Failure::new(Status::Suspect, why));
        }
        Ok(())
    }
}

/// Waits until a process that is not being measured has used no CPU for the length of `rest`, and a device no more.
pub fn wait_until_quiet(stage: &Stage, lane: &Lane, rest: Duration) -> Result<(), Failure> {
    stage.check_devices(&lane.seat)?;
    let _resting = stage.ledger.enter(Part::Resting);
    let Some(pid) = stage.session(&lane.seat).map(|session| session.pid) else { return Ok(()) };
    let deadline = Instant::now() + LONGEST_UNREST;
    let mut before = Usage::of(pid);
    loop {
        std::thread::sleep(rest);
        let now = Usage::of(pid);
        let spent: Duration = now.since(&before).iter().map(|times| times.ran).sum();
        // The answer itself may still be on its way out of the process; one that would run, had it a core,
        // uses no time and is not quiet either.
        if spent < Duration::from_micros(20)
            && !audit::is_runnable(pid)
            && !stage.keeps_device_busy(&lane.seat)
        {
            return Ok(());
        }
        if Instant::now() > deadline {
            if stage.options.checks.on(Check::Idle) {
                return Err(Failure::new(
                    Status::Suspect,
                    "keeps using CPU time or a device after its launch has returned",
                ));
            }
            return Ok(());
        }
        before = now;
    }
}

/// Refuses a process that works on after a set, in which nobody has asked it to, or has left others working; a host that
/// stops a machine may make one set look so.
pub fn check_rest(stage: &Stage, lane: &mut Lane, case: &Case) -> Result<(), Failure> {
    check_company(stage, lane, case)?;
    let rested = wait_until_quiet(stage, lane, proof::SHORT_REST);
    lane.unrests += u32::from(rested.is_err());
    if lane.unrests > MOST_UNRESTS { rested } else { Ok(()) }
}

/// Waits for rest before a visit, where there is none yet. The system brings the clock of a thread that another process asks
/// for up to date when that thread leaves its core or at the next tick: of one that spins, milliseconds from before a visit
/// would be counted in it.
pub fn rest_before(stage: &Stage, lane: &Lane) {
    let is_at_work = |session: &Session| audit::is_runnable(session.pid);
    if lane.seat.threads > 1 && stage.session(&lane.seat).is_some_and(is_at_work) {
        rest(stage, lane);
    }
}

/// Waits until a pool that still spins after its answer has gone to sleep: tens of microseconds for
/// one that parks, as long as a library spins otherwise.
pub fn rest(stage: &Stage, lane: &Lane) {
    if lane.evidence.threads <= 1 {
        return;
    }
    let _resting = stage.ledger.enter(Part::Resting);
    let Some(pid) = stage.session(&lane.seat).map(|session| session.pid) else { return };
    let deadline = Instant::now() + LONGEST_UNREST;
    let mut before = cpu_time(pid);
    while Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(20));
        let now = cpu_time(pid);
        let spent = now.zip(before).map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then));
        // A thread that spins and has no core just now uses no time either.
        if spent < Duration::from_micros(2) && !audit::is_runnable(pid) {
            return;
        }
        before = cpu_time(pid);
    }
}

/// Libraries' pools spin for up to 130 ms after a call.
const LONGEST_UNREST: Duration = Duration::from_millis(400);
