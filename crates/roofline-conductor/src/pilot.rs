//! The pilot: one look at a proved case, from which everything about its rounds follows.
//!
//! It finds the fastest member of each family of probes and which of the two limits, who is the hub,
//! what kind of kernel this is, and so how long a visit and a block are.

use crate::device;
use crate::failure::{Failure, Stop};
use crate::instance::{Instance, Spot};
use crate::lane::Lane;
use crate::plan::{PlannedRow, names};
use crate::shape::{Shape, batch_for};
use crate::stage::{Options, Stage};
use crate::{timing, visit};
use roofline_core::case::{Cache, Case};
use roofline_core::operation::Work;
use roofline_core::protocol::OutputMode;
use roofline_core::record::{Course, Kind, Limiter, Status};
use roofline_core::stats::{median, quantile};
use roofline_core::units::Seconds;
use roofline_core::verdict::{FEWEST_SETS, MOST_SETS};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A visit is as short as can be: a few samples, or one launch.
const VISIT: Duration = Duration::from_micros(200);
/// A sample lasts at least this long: the clock's cost is then below a hundredth of it.
const SAMPLE: Duration = Duration::from_micros(20);
/// What a sample of a row may last where its limit, or what it is compared with, far quicker, would need more launches.
const LONGEST_SAMPLE: Duration = Duration::from_millis(10);
const MOST_SAMPLES: u32 = 10;
/// The same where each launch is a sample: ten of a few hundred nanoseconds are too little for clocks to tell of.
const MOST_ALONE: u32 = 64;
/// So many batches, each so many times the last, and the share of one that its launches take at least.
const DEVICE_TRIES: u32 = 8;
const DEVICE_STEP: u32 = 4;
const LEAST_WORKING: f64 = 0.25;
/// Launches above this are visits of their own; up to the second limit with one in front that warms the caches, which would
/// take a part of the launch that tells.
const LONG: Duration = Duration::from_micros(100);
const LONGEST_WARMED: Duration = Duration::from_millis(1);
const TINY: Duration = Duration::from_micros(2);
/// Pairs of one row in one set take this long.
const BLOCK: Duration = Duration::from_millis(100);
const LONG_BLOCK: Duration = Duration::from_millis(200);
/// What a set takes besides, for one row.
const SET_UP: Duration = Duration::from_millis(30);
/// Tries that show whether a launch goes cold, by how much it must, and for launches below which length.
const CHILLS: usize = 7;
const CHILLED: f64 = 1.05;
const LONGEST_CHILL: Duration = Duration::from_millis(5);
/// Rivals for the hub are those that one visit puts within this factor of the fastest; each has so many turns.
const RIVALS: f64 = 2.0;
const TURNS: usize = 5;
/// Passes over all probes; then over those that may still be the fastest of their family, in as much time.
const PASSES: usize = 3;
const FINAL_PASSES: usize = 16;
const LONGEST_FINAL: Duration = Duration::from_millis(400);
/// Slower than its family's best by more than this is out.
const CONTENDS: f64 = 1.1;

/// What the pilot fixes for a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Index of the lane that is visited between the others.
    pub hub: usize,
    /// Index of the probe that bounds the case, and what it stands for.
    pub limit: Option<(usize, Limiter)>,
}

/// Adds the limiting probe to the lanes, chooses the hub, `against` if there is such a lane, and gives every lane its
/// course.
///
/// `None` when no lane is left that could be measured.
pub fn fly(
    stage: &mut Stage,
    lanes: &mut Vec<Lane>,
    probes: &[PlannedRow],
    against: Option<&str>,
    instance: &mut Instance,
) -> Result<Option<Setting>, Stop> {
    let limit = find_limit(stage, lanes, probes, instance)?;
    let named = match against {
        Some(pattern) => fastest_in_turn(stage, lanes, instance, |lane| {
            !lane.is_probe() && names(pattern, &lane.seat.implementation)
        })?,
        None => None,
    };
    let Some(hub) = named.or(limit.map(|(index, _)| index)).or_else(|| fastest(lanes, |_| true)) else {
        return Ok(None);
    };
    if device::of(instance.case.device).queue.is_some() {
        for lane in lanes.iter_mut().filter(|lane| lane.is_live()) {
            time_in_a_row(stage, lane, instance)?;
        }
    }
    let timer = timer();
    let hub_speed = lanes[hub].speed.unwrap_or_default();
    let hub_is_probe = lanes[hub].is_probe();
    let hub_is_fresh = lanes[hub].evidence.output == OutputMode::Fresh;
    let place = format!("{}, pilot", instance.case);
    let hub_chills = chills(stage, &mut lanes[hub], instance, hub_speed, &place)?;
    for lane in lanes.iter_mut() {
        let Some(speed) = lane.speed.filter(|_| lane.is_live()) else { continue };
        // Beside a probe, which is the house's and need not be asked as it is, a row is asked as if it were alone.
        let is_apart = lane.is_probe()
            && !hub_is_probe
            && instance.case.cache == Cache::Warm
            && device::of(instance.case.device).works_in_process;
        let own_speed = if is_apart { hub_speed } else { speed };
        let (quicker, slower) = (own_speed.min(hub_speed), own_speed.max(hub_speed));
        // Of a fresh output only the last of a sample can be seen, so each launch is a sample there.
        let is_fresh = hub_is_fresh || lane.evidence.output == OutputMode::Fresh;
        let mut course = course(stage.options, &instance.case, quicker, slower, timer, named.is_some());
        if is_fresh && device::of(instance.case.device).works_in_process {
            course = alone(course, slower);
        } else if hub_is_probe {
            (course, lane.hub_launches) = apart(course, speed);
        }
        if is_apart {
            lane.own_launches = batch_for(sample(timer), speed * course.batch);
        }
        if device::of(instance.case.device).queue.is_some() {
            course.batch = device::in_rounds(course.batch, instance.sets());
        }
        // More would find in the caches what the first of them have left there.
        if let Some(most) = instance.cold_batch() {
            course = Course { kind: Kind::Cold, batch: course.batch.min(most), warmup: 0, ..course };
        }
        if course.kind == Kind::Long
            && course.warmup == 0
            && (hub_chills || chills(stage, lane, instance, hub_speed, &place)?)
        {
            course.warmup = 1;
        }
        lane.course = Some(course);
    }
    Ok(Some(Setting { hub, limit }))
}

fn fastest(lanes: &[Lane], fits: impl Fn(&Lane) -> bool) -> Option<usize> {
    let live = lanes.iter().enumerate().filter(|(_, lane)| lane.is_live() && fits(lane));
    live.filter_map(|(index, lane)| Some((lane.speed?, index))).min().map(|(_, index)| index)
}

/// The same, of those that the proof puts near each other by visits in turn: one visit says little.
fn fastest_in_turn(
    stage: &mut Stage,
    lanes: &mut [Lane],
    instance: &mut Instance,
    fits: impl Fn(&Lane) -> bool,
) -> Result<Option<usize>, Stop> {
    let Some(first) = fastest(lanes, &fits) else { return Ok(None) };
    let near = lanes[first].speed.unwrap_or_default().mul_f64(RIVALS);
    let is_rival =
        |lane: &Lane| lane.is_live() && fits(lane) && lane.speed.is_some_and(|speed| speed <= near);
    let mut rivals: Vec<(usize, Vec<f64>)> =
        (0..lanes.len()).filter(|index| is_rival(&lanes[*index])).map(|index| (index, Vec::new())).collect();
    if rivals.len() == 1 {
        return Ok(Some(first));
    }
    let place = format!("{}, pilot", instance.case);
    for _ in 0..TURNS {
        for (index, times) in &mut rivals {
            let take =
                |lane: &mut Lane, stage: &mut Stage| visit::take(stage, lane, instance, Shape::new(1, 3, 1));
            let seen = lanes[*index].attempt(stage, &place, take)?;
            times.extend(seen.and_then(|seen| quantile(&seen.claimed, 0.0)));
            timing::rest(stage, &lanes[*index]);
        }
    }
    let time = |times: &Vec<f64>| median(times).unwrap_or(f64::INFINITY);
    rivals.retain(|(index, _)| lanes[*index].is_live());
    let best = rivals.iter().min_by(|one, other| time(&one.1).total_cmp(&time(&other.1)));
    Ok(best.map(|(index, _)| *index))
}

/// Whether a launch after another's turn takes longer than the next one: an interpreter and its library go
/// cold meanwhile, and a visit of one launch would measure that. Launches that outlast it by far do not care.
fn chills(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    gap: Duration,
    place: &str,
) -> Result<bool, Stop> {
    let is_long = lane.speed.is_some_and(|speed| (LONG..LONGEST_CHILL).contains(&speed));
    if lane.is_probe() || !lane.is_live() || !is_long {
        return Ok(false);
    }
    let mut ratios = Vec::new();
    for _ in 0..CHILLS {
        std::thread::sleep(gap.min(LONGEST_CHILL));
        let shape = Shape::new(0, 2, 1);
        let seen = lane.attempt(stage, place, |lane, stage| visit::take(stage, lane, instance, shape))?;
        let Some([first, next]) = seen.as_ref().and_then(|seen| seen.claimed.first_chunk()) else {
            return Ok(false);
        };
        ratios.push(first / next);
    }
    Ok(median(&ratios).is_some_and(|ratio| ratio > CHILLED))
}

/// Finds the time of a launch among many, as what more of them take longer. On another device a launch alone is
/// mostly asking and waiting, and a sample that goes by that has too few launches.
fn time_in_a_row(stage: &mut Stage, lane: &mut Lane, instance: &mut Instance) -> Result<(), Stop> {
    let Some(queue) = device::of(instance.case.device).queue else { return Ok(()) };
    let place = format!("{}, pilot", instance.case);
    // Probes let go of the tensors when the limit was chosen among them.
    if lane.is_probe() {
        lane.attempt(stage, &place, |lane, stage| lane.prepare(stage, instance))?;
    }
    let mut fewer: Option<(u32, f64)> = None;
    for batch in (0..DEVICE_TRIES).map(|n| DEVICE_STEP.pow(n)) {
        let shape = Shape::new(queue.warmup, 1, batch);
        let seen = lane.attempt(stage, &place, |lane, stage| visit::take(stage, lane, instance, shape))?;
        let Some(each) = seen.map(|seen| seen.per_launch()).filter(|each| *each > 0.0) else { break };
        let time = each * f64::from(batch);
        if let Some((launches, took)) = fewer {
            // Most of it may be waiting; that all of it is, is noise.
            let more = (time - took) / f64::from(batch - launches);
            lane.speed = Some(Seconds(more.clamp(LEAST_WORKING * each, each)).duration());
            let is_mostly_work = more * f64::from(batch) > time / 2.0;
            if time > queue.sample.as_secs_f64() && is_mostly_work {
                break;
            }
        }
        fewer = Some((batch, time));
    }
    Ok(())
}

/// How a lane and the hub are visited, alike, by the launches of the quicker and the slower of the two; `is_compared` where
/// the hub was asked for.
fn course(
    options: &Options,
    case: &Case,
    quicker: Duration,
    slower: Duration,
    timer: Seconds,
    is_compared: bool,
) -> Course {
    let queue = device::of(case.device).queue;
    let kind = match quicker {
        // Queued launches are cold by taking turns with sets of tensors.
        _ if case.cache == Cache::Cold && queue.is_none() => Kind::Cold,
        time if time < TINY => Kind::Tiny,
        time if time < LONG => Kind::Short,
        _ => Kind::Long,
    };
    // How far apart the two are then is plain, however few launches tell of the quicker one.
    let most = |sample: Duration| {
        if is_compared { batch_for(sample.max(LONGEST_SAMPLE), slower) } else { u32::MAX }
    };
    let (batch, samples, warmup) = match kind {
        _ if queue.is_some() => queue.map_or((1, 1, 0), |queue| {
            (batch_for(queue.sample, quicker).min(most(queue.sample)), 1, queue.warmup)
        }),
        Kind::Tiny | Kind::Short => {
            let sample = sample(timer);
            let batch = batch_for(sample, quicker).min(most(sample));
            let samples = batch_for(VISIT, slower * batch).min(MOST_SAMPLES);
            let warm = if kind == Kind::Tiny { 64 } else { 4 };
            // Where one launch of the slower fills the visit, one in front is enough to warm the quicker; where
            // it outlasts that by far, it only keeps neighbours apart.
            let most = (batch_for(VISIT, slower) - 1).max(u32::from(slower < LONGEST_CHILL));
            (batch, samples, warm.min(most))
        }
        Kind::Long => (1, 1, u32::from(slower < LONGEST_WARMED)),
        Kind::Cold => (1, 1, 0),
    };
    let budget = options.budget.unwrap_or_default();
    let usual = if kind == Kind::Long || kind == Kind::Cold { LONG_BLOCK } else { BLOCK };
    let block = if options.quick {
        usual / 4
    } else {
        // Six sets must fit; of a large budget, all of it may be used.
        let share = |sets: usize| (budget / sets as u32).saturating_sub(SET_UP);
        // A verdict counts sets: where one was asked for, there are as many as looks are taken at.
        let few = if is_compared { Duration::ZERO } else { usual.min(share(FEWEST_SETS)) };
        few.max(share(MOST_SETS)).max(usual / 4)
    };
    Course { kind, warmup, samples, batch, block: Seconds(block.as_secs_f64()), timer }
}

/// How long a sample is at least, whatever reading the clock takes.
fn sample(timer: Seconds) -> Duration {
    SAMPLE.max(Seconds(timer.0 * 100.0).duration())
}

/// The same with a sample for each launch.
fn alone(course: Course, slower: Duration) -> Course {
    let most = batch_for(VISIT, slower).clamp(MOST_SAMPLES, MOST_ALONE);
    Course { samples: (course.samples * course.batch).min(most), batch: 1, ..course }
}

/// The same for a row beside its limit, with samples that do not last too long, and how many times as many launches the
/// limit has in one of its own. Probes are the house's: they need not be asked as the row is, and of hundreds of launches
/// of a row that is hundreds of times slower a run would take minutes.
fn apart(course: Course, row: Duration) -> (Course, u32) {
    let batch = course.batch.min(batch_for(LONGEST_SAMPLE, row));
    (Course { batch, ..course }, course.batch.div_ceil(batch))
}

/// The limiting probe, added to the lanes: the slower of the two families' fastest members.
fn find_limit(
    stage: &mut Stage,
    lanes: &mut Vec<Lane>,
    probes: &[PlannedRow],
    instance: &mut Instance,
) -> Result<Option<(usize, Limiter)>, Stop> {
    // What need not move a byte has no limit but the clock's.
    if (instance.case.operation.work)(&instance.case) == Work::default() {
        return Ok(None);
    }
    let place = format!("{}, probes", instance.case);
    let (case, seed) = (&instance.case, stage.options.seed);
    let mut members: Vec<Lane> =
        probes.iter().map(|row| Lane::new(&row.implementation, &row.runner, case, seed)).collect();
    stage.seat_all(members.iter().map(|probe| &probe.seat));
    for probe in &mut members {
        probe.speed = probe.attempt(stage, &place, |probe, stage| try_out(stage, probe, instance))?;
    }
    let all: Vec<usize> = (0..members.len()).collect();
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        passes.push(pass(stage, &mut members, &all, None, instance, &place)?);
    }
    settle(&mut members, &passes);
    let contenders = contenders(&members);
    passes.clear();
    // In the rounds a probe comes after a row, and finds the caches as that leaves them.
    let row = fastest(lanes, |lane| !lane.is_probe());
    let start = Instant::now();
    while contenders.len() > 1 && passes.len() < FINAL_PASSES && start.elapsed() < LONGEST_FINAL {
        let before = row.map(|row| &mut lanes[row]);
        passes.push(pass(stage, &mut members, &contenders, before, instance, &place)?);
    }
    settle(&mut members, &passes);
    for probe in members.iter_mut().filter(|probe| probe.is_live()) {
        probe.attempt(stage, &place, |probe, stage| probe.release(stage))?;
    }
    let best = |family| fastest(&members, |probe| is_of(probe, family));
    let families = [Limiter::Traffic, Limiter::Compute].map(|family| (best(family), family));
    let limiting = families
        .into_iter()
        .filter_map(|(index, by)| Some((members[index?].speed?, index?, by)))
        .max_by_key(|(speed, ..)| *speed);
    let Some((_, chosen, by)) = limiting else { return Ok(None) };
    let chosen = members.swap_remove(chosen);
    // The user may have asked for probes as rows; the one that limits is then among them.
    let place = lanes.iter().position(|lane| lane.seat == chosen.seat).unwrap_or(lanes.len());
    if place == lanes.len() {
        lanes.push(chosen);
    } else {
        lanes[place].speed = chosen.speed;
    }
    Ok(Some((place, by)))
}

/// Whether a probe is of a family.
fn is_of(probe: &Lane, family: Limiter) -> bool {
    Limiter::of_probe(&probe.seat.implementation).is_some_and(|(own, _)| own == family)
}

/// One sample of each of the probes `chosen`, each after a launch of the row `before` if there is one: the logarithm
/// of the time of a launch, by index.
fn pass(
    stage: &mut Stage,
    members: &mut [Lane],
    chosen: &[usize],
    mut before: Option<&mut Lane>,
    instance: &mut Instance,
    place: &str,
) -> Result<BTreeMap<usize, f64>, Stop> {
    let mut times = BTreeMap::new();
    for &index in chosen {
        let probe = &mut members[index];
        let Some(speed) = probe.speed.filter(|_| probe.is_live()) else { continue };
        if let Some(row) = before.as_mut().filter(|row| row.is_live()) {
            row.attempt(stage, place, |row, stage| visit::take(stage, row, instance, Shape::ONE))?;
            timing::rest(stage, row);
        }
        let shape = short_shape(instance, speed);
        let seen = probe.attempt(stage, place, |probe, stage| visit::take(stage, probe, instance, shape))?;
        let time =
            seen.and_then(|seen| median(&seen.claimed)).map(|time| time * 1e-9 / f64::from(shape.batch));
        times.extend(time.filter(|time| *time > 0.0).map(|time| (index, time.ln())));
        timing::rest(stage, probe);
    }
    Ok(times)
}

/// Gives the probes of some passes their speed. Those of a pass are neighbours in time, so each is held
/// against the mean of its pass: how fast the machine was meanwhile makes none of them the fastest.
fn settle(members: &mut [Lane], passes: &[BTreeMap<usize, f64>]) {
    let means: Vec<f64> =
        passes.iter().map(|times| times.values().sum::<f64>() / times.len().max(1) as f64).collect();
    let Some(level) = median(&means) else { return };
    for (index, probe) in members.iter_mut().enumerate() {
        let from_mean: Vec<f64> =
            passes.iter().zip(&means).filter_map(|(times, mean)| Some(times.get(&index)? - mean)).collect();
        if let Some(from_mean) = median(&from_mean) {
            probe.speed = Some(Seconds((level + from_mean).exp()).duration());
        }
    }
}

/// The probes that may be the fastest of their family, going by few samples.
fn contenders(members: &[Lane]) -> Vec<usize> {
    let time = |index: usize| members[index].speed.filter(|_| members[index].is_live());
    let family = |family| (0..members.len()).filter(move |&index| is_of(&members[index], family));
    [Limiter::Traffic, Limiter::Compute]
        .into_iter()
        .flat_map(|name| {
            let best = family(name).filter_map(time).min();
            family(name).filter(move |&index| {
                time(index).zip(best).is_some_and(|(time, best)| time <= best.mul_f64(CONTENDS))
            })
        })
        .collect()
}

fn short_shape(instance: &Instance, speed: Duration) -> Shape {
    if instance.case.cache == Cache::Cold { Shape::ONE } else { Shape::new(1, 1, batch_for(VISIT, speed)) }
}

/// Gets the tensors ready for a visit: what was written is where it is read, and the caches are empty of it where the
/// case asks for it.
pub fn flush_if_cold(instance: &Instance) {
    instance.send();
    // Sets that take turns are cold without.
    let is_queued = device::of(instance.case.device).queue.is_some();
    if instance.case.cache == Cache::Cold && (!is_queued || instance.cold_batch().is_some()) {
        instance.flush();
    }
}

/// Makes a probe ready, sees that it does its work, and how long that takes.
pub fn try_out(stage: &mut Stage, probe: &mut Lane, instance: &mut Instance) -> Result<Duration, Stop> {
    // What a byte is left as is one poison by chance, and no two.
    const MOST: usize = 1 << 20;
    probe.prepare(stage, instance)?;
    let poison = instance.draw_poison(0, &mut stage.draws);
    instance.poison(&poison);
    probe.launch(stage, 1)?;
    let moves_data = is_of(probe, Limiter::Traffic);
    let outputs = 0..if moves_data { instance.outputs().count() } else { 0 };
    let kept: Vec<Vec<usize>> = outputs.map(|output| instance.unwritten(output, &poison, MOST)).collect();
    if kept.iter().any(|kept| !kept.is_empty()) {
        let other = instance.draw_other_poison(&poison, &mut stage.draws);
        instance.poison(&other);
        probe.launch(stage, 1)?;
        for (output, (tensor, kept)) in instance.outputs().zip(&kept).enumerate() {
            let kept: Vec<Spot> = kept.iter().map(|index| Spot { output, index: *index }).collect();
            if let Some(spot) = instance.still_poison(&kept, &other).first() {
                let why = format!("left element {} of `{}` unwritten", spot.index, tensor.name);
                return Err(Failure::new(Status::Suspect, why).into());
            }
        }
    }
    let first = visit::take(stage, probe, instance, Shape::new(1, 3, 1))?;
    Ok(Seconds::from_nanoseconds(median(&first.claimed).unwrap_or(0.0)).duration())
}

/// What reading the clock costs, the median of many readings.
fn timer() -> Seconds {
    const READINGS: u32 = 64;
    let readings: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..READINGS {
                std::hint::black_box(Instant::now());
            }
            start.elapsed().as_secs_f64() / f64::from(READINGS)
        })
        .collect();
    Seconds(median(&readings).unwrap_or(0.0))
}

#[cfg(test)]
mod tests;
