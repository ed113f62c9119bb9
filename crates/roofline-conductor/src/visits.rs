//! Judged visits, and the proof of a lane under the conditions of timing.
//!
//! Before a judged visit a secret sample of outputs is poisoned and a few inputs are changed at
//! secret places; after it exactly those outputs are judged, their reference computed alone. Stale,
//! cached, skipped or late work cannot pass, and the cost is that of a few elements.

use crate::audit::Usage;
use crate::checks::Check;
use crate::failure::{Failure, Stop};
use crate::gate::{self, Exam};
use crate::instance::{Instance, Placement, draw_poison};
use crate::lane::Lane;
use crate::pilot;
use crate::sample;
use crate::stage::Stage;
use crate::timing::{self, Visit};
use roofline_core::case::Case;
use roofline_core::fill::Fill;
use roofline_core::protocol::{MAX_SAMPLES, OutputMode};
use roofline_core::record::Status;
use roofline_core::stats::median;
use roofline_core::units::Seconds;
use std::time::Duration;

/// The batch that is watched lasts at least this long.
const WATCHED: Duration = Duration::from_millis(25);
/// Launches in it: after the first is seen, one may be half done, and the last must be whole.
const FEWEST_WATCHED: u32 = 3;
/// Looks that say nothing if there are fewer: the batch was over before it could be watched.
const FEWEST_LOOKS: u32 = 16;
/// Batches in a row that must look as if launches were left out.
const MOST_WATCHES: u32 = 3;
/// Tries, with ever longer batches, to find one that can be watched.
const MOST_TRIES: u32 = 10;
/// What a visit takes besides its launches, at most.
const CONVERSATION: Duration = Duration::from_micros(200);
/// A launch may take so many times as long as it computes before that shortens the visits asked for.
const LONGEST_SLEEP: u32 = 64;
/// How long a process must use no CPU time to count as quiet: between visits, and once when it is proved.
const SHORT_REST: Duration = Duration::from_micros(200);
const LONG_REST: Duration = Duration::from_millis(5);
/// The memory that visits of a case work on: one random offset, the same for all lanes and as aligned as
/// one of them requires.
pub fn instance(stage: &mut Stage, case: &Case, lanes: &[Lane]) -> Result<Instance, Stop> {
    let align = lanes.iter().filter_map(|lane| lane.condition.align).fold(64, usize::max);
    let offset = align * stage.draws.below(4096 / align as u64) as usize;
    let mut instance = Instance::new(case, Placement::Aligned { offset }, &mut stage.draws)?;
    instance.fill(Fill::Uniform, stage.fresh_seed());
    Ok(instance)
}

/// Proves the lanes under the conditions of timing; those that pass know their speed and stay prepared.
pub fn prove_all(stage: &mut Stage, lanes: &mut [Lane], instance: &mut Instance) -> Result<(), Stop> {
    let place = format!("{}, timed visits", instance.case);
    for lane in lanes.iter_mut().filter(|lane| lane.is_live()) {
        lane.attempt(stage, &place, |lane, stage| lane.prepare(stage, instance))?;
    }
    judge_all(stage, &place, lanes, instance)?;
    for lane in lanes.iter_mut().filter(|lane| lane.is_live()) {
        lane.speed = lane.attempt(stage, &place, |lane, stage| {
            if lane.is_probe() { pilot::try_out(stage, lane, instance) } else { prove(stage, lane, instance) }
        })?;
    }
    if stage.options.checks.on(Check::AfterTiming) {
        instance.fill(Fill::Uniform, stage.fresh_seed());
        judge_all(stage, &format!("{}, after the timing", instance.case), lanes, instance)?;
    }
    Ok(())
}

/// A whole judged launch of every lane that is not slow, on the inputs as they are.
fn judge_all(stage: &mut Stage, place: &str, lanes: &mut [Lane], instance: &Instance) -> Result<(), Stop> {
    if !lanes.iter().any(|lane| lane.is_live() && !lane.is_probe()) {
        return Ok(());
    }
    let exam = match Exam::new(instance, Fill::Uniform, &mut stage.draws) {
        Ok(exam) => exam,
        Err(failure) => {
            gate::fail_all(stage, lanes, &failure.seen_in(place));
            return Ok(());
        }
    };
    for lane in lanes.iter_mut().filter(|lane| lane.is_live() && !lane.slow && !lane.is_probe()) {
        lane.attempt(stage, place, |lane, stage| judged_launch(stage, lane, instance, &exam))?;
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

/// One lane alone: how long a launch takes, that visits are judged right, that batches are whole,
/// that the clocks agree. Returns the claimed time of one launch.
fn prove(stage: &mut Stage, lane: &mut Lane, instance: &mut Instance) -> Result<Duration, Stop> {
    // An odd number of launches: what is done twice and undone would not show.
    let pilot = if lane.slow { (0, 1, 1) } else { (2, 3, 1) };
    let first = judged_visit(stage, lane, instance, pilot)?;
    lane.evidence.copy = first.copy;
    let claimed = Duration::from_secs_f64(median(&first.claimed).unwrap_or(0.0) * 1e-9);
    // A claim is not trusted to choose how long the next visits take. CPU time is, whoever else wants
    // the core; the wall only keeps whoever sleeps from being asked for hours of it.
    let launches = pilot.0 + pilot.1;
    let worked = first.wall.saturating_sub(first.waited).saturating_sub(CONVERSATION) / launches;
    let copy = Duration::from_secs_f64(first.copy.map_or(0.0, |copy| copy.0));
    let computed = first.busiest.saturating_sub(CONVERSATION + copy) / launches;
    let seen = claimed.max(computed).max(worked / LONGEST_SLEEP);
    if !lane.slow && stage.options.checks.on(Check::Poison) {
        watched_visit(stage, lane, instance, timing::batch_for(WATCHED, seen).max(FEWEST_WATCHED))?;
    }
    timing::wait_until_quiet(stage, lane, LONG_REST)?;
    let batch = timing::batch_for(timing::length_to_double(lane), seen);
    timing::corroborate(stage, lane, batch, seen)?;
    timing::check_ceiling(stage, lane, &instance.case, Seconds(claimed.as_secs_f64()))?;
    Ok(seen)
}

/// A visit between a secret preparation and its judgement; cold caches are emptied in between.
pub fn judged_visit(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    plan: (u32, u32, u32),
) -> Result<Visit, Stop> {
    let mut wanted = sample::for_visit(instance.output(), &mut stage.draws);
    if stage.options.checks.on(Check::ChangedInputs) {
        let reached = change_inputs(stage, instance)?;
        wanted.extend(reached);
        wanted.sort_unstable();
        wanted.dedup();
    }
    let poison = draw_poison(instance.output().dtype, lane.gate.judged_visits as usize, &mut stage.draws);
    if stage.options.checks.on(Check::Poison) {
        instance.poison_at(&wanted, poison);
    }
    pilot::flush_if_cold(instance);
    let visit = timing::visit(stage, lane, plan, Duration::from_millis(50), || {})?;
    if !stage.options.checks.on(Check::JudgedVisits) {
        return Ok(visit);
    }
    lane.gate.judged_visits += 1;
    let expected = gate::reference(instance, Fill::Uniform, &wanted)?;
    lane.settle(gate::judge_elements(stage, instance, &wanted, &expected, poison))?;
    if let Some(why) = instance.broken_canary().filter(|_| stage.options.checks.on(Check::Canaries)) {
        return Err(Failure::new(Status::Wrong, why).into());
    }
    Ok(visit)
}

/// Changes one element of each input, and returns outputs that must change with it.
fn change_inputs(stage: &mut Stage, instance: &mut Instance) -> Result<Vec<usize>, Failure> {
    const TRIES: usize = 8;
    const JUDGED: u64 = 4;
    let mut reached = Vec::new();
    for (tensor, elements) in instance.input_sizes().into_iter().enumerate() {
        for _ in 0..TRIES {
            let element = stage.draws.below(elements as u64) as usize;
            let reach = (instance.case.operation.reach)(&instance.case, tensor, element);
            let mut places: Vec<usize> =
                (0..JUDGED).map(|_| reach.nth(stage.draws.below(reach.count as u64) as usize)).collect();
            places.sort_unstable();
            places.dedup();
            let before = gate::reference(instance, Fill::Uniform, &places)?;
            instance.set_input(tensor, element, moved(instance.input(tensor, element)));
            let after = gate::reference(instance, Fill::Uniform, &places)?;
            let dtype = instance.output().dtype;
            let visible = before.iter().zip(&after).any(|(before, after)| {
                (before.value - after.value).abs() > 2.0 * roofline_core::judge::allowed(dtype, after)
            });
            reached.extend(places);
            if visible {
                break;
            }
        }
    }
    Ok(reached)
}

/// A value as far from `x` as the uniform fill has one; integers too.
fn moved(x: f64) -> f64 {
    if x.fract() == 0.0 && x.abs() > 1.0 {
        return if x > 0.0 { x - 100.0 } else { x + 100.0 };
    }
    if x >= 0.0 { x - 1.0 } else { x + 1.0 }
}

/// A batch that is watched: each launch must write the output, not only the last.
///
/// Whenever all watched elements have been written they are poisoned again. An honest kernel writes
/// them again and again; one that works in few launches of the batch does so as often as it works.
fn watched_visit(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &Instance,
    mut batch: u32,
) -> Result<(), Stop> {
    let watched = sample::for_visit(instance.output(), &mut stage.draws);
    let poison = draw_poison(instance.output().dtype, 0, &mut stage.draws);
    let is_written = || watched.iter().all(|index| !instance.is_poison(*index, poison));
    let mut left_out = 0;
    for _ in 0..MOST_TRIES {
        instance.poison_at(&watched, poison);
        let (mut written, mut looks) = (0, 0);
        let before = stage.session(&lane.seat).map(|session| Usage::of(session.pid)).unwrap_or_default();
        // A fresh output is copied to where it can be seen once a sample.
        let shape = match lane.evidence.output {
            OutputMode::InPlace => (0, 1, batch),
            OutputMode::Fresh => (0, batch.min(MAX_SAMPLES), 1),
        };
        let visit = timing::visit(stage, lane, shape, Duration::from_micros(300), || {
            looks += 1;
            if is_written() {
                written += 1;
                instance.poison_at(&watched, poison);
            }
        })?;
        written += u32::from(is_written());
        timing::audit(stage, lane, &instance.case, &before, &visit)?;
        if looks < FEWEST_LOOKS {
            // Over before it could be watched: whoever does less than it says needs a longer batch.
            batch = batch.saturating_mul(8);
            continue;
        }
        // Two launches may pass between two writings of all elements, and a look may come late; while a
        // thread waits for its core, the others wait for it and nothing is written.
        let awake = 1.0 - (visit.waited.as_secs_f64() / visit.wall.as_secs_f64()).min(1.0);
        let telling = (f64::from(looks) * awake) as u32;
        if written >= (telling.min(batch) / 4).max(2) || !stage.options.checks.on(Check::WatchedBatch) {
            return Ok(());
        }
        left_out += 1;
        if left_out == MOST_WATCHES {
            let why = format!("of {batch} launches in a batch only {written} were seen to write the output");
            return Err(Failure::new(Status::Wrong, why).into());
        }
    }
    Ok(())
}

/// A judged launch where the visits take place: before them, and after them on inputs held back until then.
fn judged_launch(stage: &mut Stage, lane: &mut Lane, instance: &Instance, exam: &Exam) -> Result<(), Stop> {
    let poison = draw_poison(instance.output().dtype, 0, &mut lane.draws);
    if stage.options.checks.on(Check::Poison) {
        instance.poison(poison);
    }
    lane.launch(stage, 1)?;
    let judgement = gate::judge_output(stage, instance, exam, poison, lane.draws.bits())?;
    lane.settle(judgement)?;
    Ok(())
}
