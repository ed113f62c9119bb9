//! The proof of a lane where its visits take place: on memory between canaries, launched and visited.

use crate::audit::Usage;
use crate::checks::Check;
use crate::clocks::{self, Doubt, Workers};
use crate::device;
use crate::failure::{Failure, Stop};
use crate::gate::{self, Exam};
use crate::instance::Instance;
use crate::lane::Lane;
use crate::pilot;
use crate::shape::{Shape, batch_for};
use crate::spent::Part;
use crate::stage::Stage;
use crate::visit::Seen;
use crate::{timing, visit};
use roofline_core::case::Case;
use roofline_core::fill::Fill;
use roofline_core::record::Status;
use roofline_core::stats::median;
use roofline_core::turn::Account;
use roofline_core::units::Seconds;
use std::time::Duration;

/// What a visit takes besides its launches, at most.
const CONVERSATION: Duration = Duration::from_micros(200);
/// A launch may take so many times as long as it computes before that shortens the visits asked for.
const LONGEST_SLEEP: u32 = 64;
/// Visits more that say how long a launch takes, unless that is longer than a host takes a machine away.
const MORE_VISITS: u32 = 2;
const LONG_ENOUGH: Duration = Duration::from_millis(50);
/// How long a process must use no CPU time to count as quiet: when its tensors are taken away, and once when it
/// is proved.
pub const SHORT_REST: Duration = Duration::from_micros(200);
const LONG_REST: Duration = Duration::from_millis(5);
/// Visits of about this length are held against those of twice as many launches; so many, in no more time.
const CORROBORATED: Duration = Duration::from_millis(1);
const MOST_PAIRS: usize = 8;
const TESTS: u32 = 3;
const LONGEST_CORROBORATION: Duration = Duration::from_millis(200);

/// The memory that visits of a case work on: one random offset, the same for all lanes and as aligned as
/// one of them requires.
pub fn instance(stage: &mut Stage, case: &Case, lanes: &[Lane]) -> Result<Instance, Stop> {
    let _filling = stage.ledger.enter(Part::Filling);
    let align = lanes.iter().filter_map(|lane| lane.condition.align).fold(64, usize::max);
    let offset = align * stage.draws.below(4096 / align as u64) as usize;
    let mut instance = stage.timed_instance(case, offset)?;
    instance.fill(Fill::Uniform, stage.fresh_seed());
    Ok(instance)
}

/// Proves the lanes that `takes_part` names; those that pass know their speed and stay prepared.
pub fn prove_all(
    stage: &mut Stage,
    lanes: &mut [Lane],
    instance: &mut Instance,
    takes_part: impl Fn(&Lane) -> bool,
) -> Result<(), Stop> {
    let place = format!("{}, timed visits", instance.case);
    let takes_part = |lane: &&mut Lane| lane.is_live() && takes_part(lane);
    for lane in lanes.iter_mut().filter(takes_part) {
        lane.attempt(stage, &place, |lane, stage| lane.prepare(stage, instance))?;
    }
    judge_all(stage, &place, lanes, instance, &takes_part)?;
    for lane in lanes.iter_mut().filter(takes_part) {
        lane.speed = lane.attempt(stage, &place, |lane, stage| {
            if lane.is_probe() { pilot::try_out(stage, lane, instance) } else { prove(stage, lane, instance) }
        })?;
    }
    if stage.options.checks.on(Check::AfterTiming) {
        instance.refill(Fill::Uniform, stage.fresh_seed());
        judge_all(stage, &format!("{}, after the timing", instance.case), lanes, instance, &takes_part)?;
    }
    Ok(())
}

/// A whole judged launch of every lane that is not slow, on the inputs as they are.
fn judge_all(
    stage: &mut Stage,
    place: &str,
    lanes: &mut [Lane],
    instance: &Instance,
    takes_part: &dyn Fn(&&mut Lane) -> bool,
) -> Result<(), Stop> {
    let (slow, mut judged): (Vec<&mut Lane>, Vec<&mut Lane>) =
        lanes.iter_mut().filter(takes_part).filter(|lane| !lane.is_probe()).partition(|lane| lane.is_slow());
    for lane in slow {
        lane.missed.insert(Check::AfterTiming);
    }
    if judged.is_empty() {
        return Ok(());
    }
    let exam = match Exam::new(stage, instance, Fill::Uniform) {
        Ok(exam) => exam,
        Err(failure) => {
            gate::fail_all(stage, lanes, &failure.seen_in(place));
            return Ok(());
        }
    };
    for lane in &mut judged {
        let own = exam.of_lane(lane, &instance.case);
        let exam = own.as_ref().unwrap_or(&exam);
        lane.attempt(stage, place, |lane, stage| {
            lane.fairly(stage, |lane, stage| judged_launch(stage, lane, instance, exam))
        })?;
    }
    Ok(())
}

/// Takes the tensors from the lanes again.
pub fn release_all(stage: &mut Stage, lanes: &mut [Lane], instance: &Instance) -> Result<(), Stop> {
    let place = format!("{}, timed visits", instance.case);
    for lane in lanes.iter_mut().filter(|lane| lane.is_live()) {
        lane.attempt(stage, &place, |lane, stage| lane.release(stage))?;
        // What the process did besides answering shows at the latest now.
        lane.attempt(stage, &place, |lane, stage| Ok(timing::wait_until_quiet(stage, lane, SHORT_REST)?))?;
    }
    Ok(())
}

/// One lane alone: that a visit is judged right, what the process uses in it, that it comes to rest. Returns
/// about how long a launch takes.
fn prove(stage: &mut Stage, lane: &mut Lane, instance: &mut Instance) -> Result<Duration, Stop> {
    // An odd number of launches: what is done twice and undone would not show.
    let shape = if lane.is_slow() { Shape::ONE } else { Shape::new(2, 3, 1) };
    let before = stage.session(&lane.seat).map(|session| Usage::of(session.pid)).unwrap_or_default();
    let first = visit::take_judged(stage, lane, instance, shape)?;
    timing::audit(stage, lane, &instance.case, &before, &first)?;
    lane.evidence.copy = first.copy;
    timing::wait_until_quiet(stage, lane, LONG_REST)?;
    let claimed = Seconds::from_nanoseconds(median(&first.claimed).unwrap_or(0.0));
    timing::check_ceiling(stage, lane, &instance.case, claimed)?;
    let mut speed = about(lane, &first);
    // One visit alone may have met a host that took the machine away.
    let more = if lane.is_slow() || speed > LONG_ENOUGH { 0 } else { MORE_VISITS };
    for _ in 0..more {
        let seen = visit::take(stage, lane, instance, shape)?;
        speed = speed.min(about(lane, &seen));
    }
    corroborate(stage, lane, instance, speed)?;
    Ok(speed)
}

/// About how long a launch of a visit took.
///
/// A claim is not trusted to choose how long the next visits take. CPU time is, whoever else wants the core; the wall
/// only keeps whoever sleeps from being asked for hours of it.
fn about(lane: &Lane, seen: &Seen) -> Duration {
    let shape = seen.shape;
    let sample = Seconds::from_nanoseconds(median(&seen.claimed).unwrap_or(0.0)).duration();
    let claimed = sample / shape.batch.max(1);
    let threads = lane.evidence.threads.max(1);
    let computed = (seen.cpu / threads).saturating_sub(CONVERSATION) / shape.launches();
    let passed = seen.wall.saturating_sub(CONVERSATION) / shape.launches();
    claimed.max(computed.min(passed)).max(passed / LONGEST_SLEEP)
}

/// A first word on the clock, for whoever only checks; the rounds hold it to every visit.
fn corroborate(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    speed: Duration,
) -> Result<(), Stop> {
    let shape = Shape::batch(batch_for(CORROBORATED, speed));
    let affordable =
        LONGEST_CORROBORATION.as_secs_f64() / (3.0 * f64::from(shape.batch) * speed.as_secs_f64());
    let pairs = (affordable as usize).min(MOST_PAIRS);
    if pairs == 0 {
        lane.weaker(Check::WallClock, "a launch is too long for visits of twice as many");
    }
    let in_process = device::of(instance.case.device).works_in_process;
    // Whoever lies does so every time; a busy machine disturbs now and then.
    let mut doubt = None;
    for _ in 0..TESTS {
        let mut account = Account::default();
        for _ in 0..pairs {
            account.plain.push(visit::take(stage, lane, instance, shape)?.clocked());
            account.doubled.push(visit::take(stage, lane, instance, shape.doubled())?.clocked());
        }
        let visits = account.plain.iter().chain(&account.doubled);
        let workers = if in_process { Workers::of(lane.evidence.threads, visits) } else { Workers::Device };
        match clocks::hold(&account, shape, None, workers) {
            Ok(_) => return Ok(()),
            Err(Doubt::Slope(why) | Doubt::Constant(why)) => doubt = Some(why),
        }
    }
    match doubt.filter(|_| stage.options.checks.on(Check::WallClock)) {
        Some(why) => Err(Failure::new(Status::Suspect, why).into()),
        None => Ok(()),
    }
}

/// A judged launch where the visits take place: before them, and after them on inputs held back until then.
fn judged_launch(stage: &mut Stage, lane: &mut Lane, instance: &Instance, exam: &Exam) -> Result<(), Stop> {
    let poison = instance.draw_poison(0, &mut lane.draws);
    if stage.options.checks.on(Check::Poison) {
        instance.poison(&poison);
    }
    lane.launch(stage, 1)?;
    let judgement = gate::judge_output(stage, instance, exam, &poison, lane.draws.bits())?;
    lane.settle(judgement)?;
    Ok(())
}
