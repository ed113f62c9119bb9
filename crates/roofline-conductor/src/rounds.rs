//! Rounds: how the rows of a case are measured beside each other on a machine that never holds still.
//!
//! What is compared are neighbours in time. The hub is visited between the other rows, each pair of
//! visits in the order hub, row or row, hub in turn (ABBA). A *set* is one fresh start of all
//! processes; its value is the median over its pairs of ln(time / hub's time), and the set, not the
//! sample, is what is counted. A case takes one *turn* in each set. After 6, 12 and 24 sets a *look*
//! is taken; rows that are decided drop out.
//!
//! ```text
//! pilot ─► turn ─► look ─► turn ─► … ─► ended
//! ```

mod past;
#[cfg(test)]
mod tests;

use crate::audit;
use crate::failure::{Failure, Stop};
use crate::instance::Instance;
use crate::lane::Lane;
use crate::pilot::{self, Setting};
use crate::plan::PlannedCase;
use crate::stage::{Options, Stage};
use crate::timing::{self, Shape};
use crate::visits;
use roofline_core::protocol::OutputMode;
use roofline_core::record::{Course, Ended, Limit, Rounds, Sample, Status};
use roofline_core::stats::{Interval, median, quantile, t_interval};
use roofline_core::turn::{Taken, Turn};
use roofline_core::units::Seconds;
use roofline_core::verdict::{FEWEST_SETS, MOST_SETS, SHARE_PRECISION, SHORTEST_SHARE, Word, look, word};
use std::time::{Duration, Instant};

/// A set begins with visits of about this length until two in a row agree.
const WARM_UP: Duration = Duration::from_millis(2);
const MOST_WARM_UPS: u32 = 10;
const LONGEST_WARM_UP: Duration = Duration::from_millis(50);
const AGREE: f64 = 0.05;
/// Most of a block that holding the clocks against each other may take.
const DOUBLING_SHARE: f64 = 0.25;
/// Judging takes no more than this share of the time between pairs.
const JUDGING_SHARE: f64 = 0.05;
/// Pairs in one set, whatever the block.
const MOST_PAIRS: u32 = 2000;
/// A pilot may fix a member of a family that is so much slower than the fastest, as a logarithm.
const PILOT_ERROR: f64 = 0.05;
/// Launches of a row that is too slow for six sets.
const SLOW_LAUNCHES: u32 = 3;
/// Six sets may take so many budgets before a row counts as too slow for them.
const PATIENCE: u32 = 4;

/// The rows of a case, and the probe of its limit, on their way through the sets.
#[derive(Debug)]
pub struct Contest<'p> {
    pub planned: &'p PlannedCase,
    /// The planned rows in their order; the limit's probe last, unless it is one of them.
    pub lanes: Vec<Lane>,
    setting: Setting,
    sets: u32,
    /// What each lane found in the turn under way, and its visits in their order.
    now: Vec<Found>,
    log: Vec<Visit>,
}

/// One visit of the turn under way.
#[derive(Clone, Copy, Debug)]
struct Visit {
    lane: usize,
    shape: Shape,
    /// When it began, and what it found: the time of one launch.
    at: Instant,
    value: f64,
}

/// What a lane has found in the turn under way.
#[derive(Debug, Default)]
struct Found {
    pairs: u32,
    samples: Vec<Sample>,
    visits: u32,
    spent: Duration,
    /// What judging a visit costs beyond the visit.
    judging: Duration,
    taken: Taken,
}

impl<'p> Contest<'p> {
    /// Starts a contest of proved lanes; rows too slow for sets are measured at once and end here.
    ///
    /// The lanes come back when none of them is left to measure; they say why.
    pub fn start(
        stage: &mut Stage,
        planned: &'p PlannedCase,
        mut lanes: Vec<Lane>,
        instance: &mut Instance,
        past: &[Turn],
    ) -> Result<Result<Contest<'p>, Vec<Lane>>, Stop> {
        let Some(setting) = pilot::fly(stage, &mut lanes, &past::probes_of(planned, past), instance)? else {
            return Ok(Err(lanes));
        };
        let now = lanes.iter().map(|_| Found::default()).collect();
        let mut contest = Contest { planned, lanes, setting, sets: 0, now, log: Vec::new() };
        contest.measure_slow_rows(stage, instance)?;
        Ok(Ok(contest))
    }

    fn measure_slow_rows(&mut self, stage: &mut Stage, instance: &mut Instance) -> Result<(), Stop> {
        let budget = stage.options.budget.unwrap_or_default();
        let hub_speed = self.lanes[self.setting.hub].speed.unwrap_or_default();
        let place = self.place();
        for lane in self.lanes.iter_mut().filter(|lane| lane.is_live() && !lane.is_probe()) {
            let pair = lane.speed.unwrap_or_default() + hub_speed;
            if pair * FEWEST_SETS as u32 <= budget * PATIENCE {
                continue;
            }
            for visit in 0..SLOW_LAUNCHES {
                let taken = lane.attempt(stage, &place, |lane, stage| {
                    visits::judged_visit(stage, lane, instance, (0, 1, 1))
                })?;
                let times = taken.map(|visit| visit.claimed).unwrap_or_default();
                lane.samples.extend(samples(0, visit, 1, times));
            }
            lane.ended = Some((1.0, Ended::Slow));
        }
        Ok(())
    }

    /// Whether a lane still takes part for its own sake.
    fn is_open(&self, index: usize) -> bool {
        index < self.planned.rows.len() && self.lanes[index].is_live() && self.lanes[index].ended.is_none()
    }

    /// Hub and probe take part as long as anybody needs them.
    fn is_needed(&self, index: usize) -> bool {
        let is_limit = self.setting.limit.is_some_and(|(limit, _)| index == limit);
        (index == self.setting.hub || is_limit) && self.lanes[index].is_live()
    }

    /// Whether no row needs a further turn.
    pub fn is_over(&self) -> bool {
        !self.lanes[self.setting.hub].is_live() || !(0..self.lanes.len()).any(|index| self.is_open(index))
    }

    /// Rows that have ended and whose samples are complete: hub and probe only when all is over.
    pub fn finished(&self) -> Vec<usize> {
        let is_over = self.is_over();
        let is_finished = |index: &usize| {
            let lane = &self.lanes[*index];
            !lane.is_recorded
                && (!lane.is_live() || is_over || lane.ended.is_some() && !self.is_needed(*index))
        };
        let mut finished: Vec<usize> = (0..self.lanes.len()).filter(is_finished).collect();
        // The hub last: whoever goes on with a run that was killed in between finds it still open.
        finished.sort_by_key(|index| *index == self.setting.hub);
        finished
    }

    fn place(&self) -> String {
        format!("{}, timed visits", self.planned.case)
    }

    /// One set: fresh processes have been started; every lane is visited for its block.
    pub fn turn(&mut self, stage: &mut Stage) -> Result<(), Stop> {
        let mut instance = visits::instance(stage, &self.planned.case, &self.lanes)?;
        self.now = self.lanes.iter().map(|_| Found::default()).collect();
        self.log.clear();
        let mut order: Vec<usize> =
            (0..self.lanes.len()).filter(|index| self.is_open(*index) || self.is_needed(*index)).collect();
        if self.sets % 2 == 1 {
            order.reverse();
        }
        let place = self.place();
        for index in &order {
            let start = Instant::now();
            let lane = &mut self.lanes[*index];
            lane.attempt(stage, &place, |lane, stage| get_ready(stage, lane, &instance))?;
            self.now[*index].spent += start.elapsed();
        }
        let clock = audit::Steal::now();
        let before: Vec<Option<u64>> =
            order.iter().map(|index| switches(stage, &self.lanes[*index])).collect();
        self.block(stage, &mut instance, &order)?;
        let ticks = clock.since();
        for (index, before) in order.iter().zip(before) {
            let now = switches(stage, &self.lanes[*index]);
            let switches = now.zip(before).map(|(now, before)| now.saturating_sub(before));
            self.now[*index].taken = Taken { ticks, switches };
        }
        for index in &order {
            let lane = &mut self.lanes[*index];
            if !lane.is_live() {
                continue;
            }
            if !lane.is_probe() {
                // The last visit of a set is always judged, after all that were not.
                let shape = shape(lane.course);
                let visit = lane.attempt(stage, &place, |lane, stage| {
                    visits::judged_visit(stage, lane, &mut instance, shape)
                })?;
                if speaks_for_itself(lane) {
                    lane.doublings.extend(visit.map(|visit| visit.as_doubling(shape)));
                }
            }
            if lane.is_live() {
                lane.attempt(stage, &place, |lane, stage| lane.release(stage))?;
            }
        }
        for index in order {
            self.keep(stage, index);
        }
        self.sets += 1;
        Ok(())
    }

    /// Takes what the turn found of a lane into its account: one value a set, for every lane alike.
    fn keep(&mut self, stage: &mut Stage, index: usize) {
        let ratios = self.ratios(index);
        let has_hub = self.lanes[self.setting.hub].is_live();
        let (lane, found) = (&mut self.lanes[index], &self.now[index]);
        lane.spent += found.spent;
        lane.account(found.taken);
        // Without its hub a turn has found nothing, and that is nobody else's fault.
        if !lane.is_live() || !has_hub {
            return;
        }
        match if index == self.setting.hub { Some(0.0) } else { median(&ratios) } {
            Some(value) => {
                lane.to_hub.push(value);
                lane.samples.extend_from_slice(&found.samples);
            }
            None => lane.fail(stage, Failure::new(Status::Suspect, "its visits took no time at all")),
        }
    }

    /// Rounds through the lanes, forwards and backwards, until each has had its block.
    fn block(&mut self, stage: &mut Stage, instance: &mut Instance, order: &[usize]) -> Result<(), Stop> {
        let hub = self.setting.hub;
        let mut paired = vec![Duration::ZERO; self.lanes.len()];
        for round in 0..MOST_PAIRS {
            let hub_first = (round + self.sets).is_multiple_of(2);
            let mut pairs = pairs(order, hub, hub_first);
            pairs.retain(|(index, _)| {
                self.lanes[*index].is_live() && !self.had_its_block(*index, paired[*index])
            });
            if pairs.is_empty() {
                break;
            }
            for (index, sides) in pairs {
                let start = Instant::now();
                self.pair(stage, instance, index, sides)?;
                paired[index] += start.elapsed();
                self.now[index].spent += start.elapsed();
                if !self.lanes[hub].is_live() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Each order must have had as many pairs, unless one pair alone takes longer than the block.
    fn had_its_block(&self, index: usize, paired: Duration) -> bool {
        let block = self.lanes[index].course.map_or(0.0, |course| course.block.0);
        let pairs = self.now[index].pairs;
        paired.as_secs_f64() >= block && (pairs <= 1 || pairs.is_multiple_of(2))
    }

    /// One visit to a lane and one to the hub, side by side.
    fn pair(
        &mut self,
        stage: &mut Stage,
        instance: &mut Instance,
        index: usize,
        sides: Vec<usize>,
    ) -> Result<(), Stop> {
        let shape = shape(self.lanes[index].course);
        let is_judged = self.is_judged(stage, index);
        for side in sides {
            if !self.visit(stage, instance, side, shape, is_judged)? {
                return Ok(());
            }
        }
        self.now[index].pairs += 1;
        Ok(())
    }

    /// ln(time / hub's time) of each visit to a lane. The hub's time is that of the moment of the visit:
    /// between the nearest visits to the hub before and after it, so that an even drift cancels.
    fn ratios(&self, index: usize) -> Vec<f64> {
        let is_hub = |visit: &&Visit, shape| visit.lane == self.setting.hub && visit.shape == shape;
        let ratio = |(place, visit): (usize, &Visit)| {
            let before = self.log[..place].iter().rev().find(|other| is_hub(other, visit.shape));
            let after = self.log[place + 1..].iter().find(|other| is_hub(other, visit.shape));
            let hub = match (before, after) {
                (Some(before), Some(after)) => {
                    let whole = (after.at - before.at).as_secs_f64();
                    let share = (visit.at - before.at).as_secs_f64() / whole.max(1e-9);
                    (1.0 - share) * before.value.ln() + share * after.value.ln()
                }
                (Some(only), None) | (None, Some(only)) => only.value.ln(),
                (None, None) => f64::NAN,
            };
            visit.value.ln() - hub
        };
        let visits = self.log.iter().enumerate().filter(|(_, visit)| visit.lane == index);
        visits.map(ratio).filter(|ratio| ratio.is_finite()).collect()
    }

    /// Whether a pair is judged: the first of a lane, and others by lot, as often as the time between pairs
    /// allows. Both sides alike, but for probes: what a preparation does to a visit, it does to both.
    fn is_judged(&self, stage: &mut Stage, index: usize) -> bool {
        let (row, hub) = (&self.now[index], &self.now[self.setting.hub]);
        let judging = if index == self.setting.hub { row.judging } else { row.judging + hub.judging };
        let between = row.spent.as_secs_f64() / f64::from(row.visits.max(1));
        let affordable = JUDGING_SHARE * between / judging.as_secs_f64().max(1e-9);
        row.visits == 0 || stage.draws.below(1000) < (1000.0 * affordable).clamp(10.0, 1000.0) as u64
    }

    /// One visit; false when the lane failed. A probe computes nothing that could be judged.
    fn visit(
        &mut self,
        stage: &mut Stage,
        instance: &mut Instance,
        index: usize,
        shape: Shape,
        is_judged: bool,
    ) -> Result<bool, Stop> {
        let place = self.place();
        let (lane, found) = (&mut self.lanes[index], &mut self.now[index]);
        let is_judged = is_judged && !lane.is_probe();
        let start = Instant::now();
        let times = lane.attempt(stage, &place, |lane, stage| {
            if is_judged {
                visits::judged_visit(stage, lane, instance, shape).map(|visit| visit.claimed)
            } else {
                pilot::flush_if_cold(instance);
                timing::sample(stage, lane, shape)
            }
        })?;
        let Some(times) = times else { return Ok(false) };
        let taken = Duration::from_secs_f64(times.iter().sum::<f64>() * 1e-9);
        if is_judged {
            found.judging = start.elapsed().saturating_sub(taken);
        }
        timing::rest(stage, lane);
        let batch = shape.2;
        let value = quantile(&times, 0.1).map_or(f64::NAN, |time| time / f64::from(batch));
        self.log.push(Visit { lane: index, shape, at: start, value });
        found.samples.extend(samples(self.sets, found.visits, batch, times));
        found.visits += 1;
        Ok(true)
    }

    /// Looks at every open row; those that are decided, or out of time, end.
    ///
    /// The hub waits for the others: as long as one of them is open, it is visited anyway.
    pub fn look(&mut self, options: &Options, out_of_time: bool) {
        let (open, waiting): (Vec<usize>, Vec<usize>) = (0..self.lanes.len())
            .filter(|index| self.is_open(*index))
            .partition(|index| !self.is_needed(*index));
        for index in &open {
            self.lanes[*index].ended = self.end_of(options, *index, out_of_time);
        }
        if !open.into_iter().any(|index| self.is_open(index)) {
            for index in waiting {
                self.lanes[index].ended = self.end_of(options, index, out_of_time);
            }
        }
    }

    /// Whether a row ends at this look: with which error probability, and why.
    fn end_of(&self, options: &Options, index: usize, out_of_time: bool) -> Option<(f64, Ended)> {
        let sets = self.lanes[index].to_hub.len();
        let spent = self.lanes.iter().map(|lane| lane.spent).max().filter(|_| index == self.setting.hub);
        let spent = spent.unwrap_or(self.lanes[index].spent);
        let per_set = spent / (sets.max(1) as u32);
        let is_spent = sets >= FEWEST_SETS && spent + per_set > options.budget.unwrap_or_default();
        match look(sets, sets >= MOST_SETS || is_spent || out_of_time) {
            Some(alpha) if self.is_decided(options, index, alpha) => Some((alpha, Ended::Decided)),
            Some(alpha) if sets >= MOST_SETS => Some((alpha, Ended::Looks)),
            Some(alpha) if is_spent => Some((alpha, Ended::Budget)),
            Some(alpha) if out_of_time => Some((alpha, Ended::TotalBudget)),
            // Fewer than six sets say nothing; they are kept for whoever goes on.
            _ => None,
        }
    }

    /// Whether an interval of `alpha` says all that is asked of a lane.
    fn is_decided(&self, options: &Options, index: usize, alpha: f64) -> bool {
        let hub = self.setting.hub;
        let lane = &self.lanes[index];
        let compared = index == hub
            || self.lanes[hub].is_probe()
            || t_interval(&lane.to_hub, alpha)
                .is_some_and(|interval| word(interval, options.delta) != Word::Inconclusive);
        let shared = self.setting.limit.is_none_or(|(limit, _)| limit == index)
            || self.share(index, alpha).is_none_or(|share| share.half <= SHARE_PRECISION);
        compared && shared
    }

    /// ln(limit's time / lane's time) with its interval; short launches have none.
    fn share(&self, index: usize, alpha: f64) -> Option<Interval> {
        self.median(index).filter(|time| time.0 >= SHORTEST_SHARE)?;
        let (limit, _) = self.setting.limit.filter(|(limit, _)| self.lanes[*limit].is_live())?;
        let pairs = self.lanes[limit].to_hub.iter().zip(&self.lanes[index].to_hub);
        t_interval(&pairs.map(|(limit, own)| limit - own).collect::<Vec<f64>>(), alpha)
    }

    /// Median time of a launch over all samples so far.
    fn median(&self, index: usize) -> Option<Seconds> {
        let times: Vec<f64> = self.lanes[index].samples.iter().map(Sample::per_launch).collect();
        median(&times).map(Seconds::from_nanoseconds)
    }

    /// The last word on a lane that ended: its clock over all sets, and its limit.
    pub fn conclude(&mut self, stage: &mut Stage, index: usize) {
        let Some((alpha, _)) = self.lanes[index].ended else { return };
        let above = self.share(index, alpha).filter(|_| self.lanes[index].to_hub.len() >= FEWEST_SETS);
        let place = self.place();
        let time = self.median(index);
        let lane = &mut self.lanes[index];
        let doublings = std::mem::take(&mut lane.doublings);
        let mut verdict =
            if doublings.len() >= FEWEST_SETS { timing::believe(stage, lane, &doublings) } else { Ok(()) };
        if let Some(time) = time.filter(|_| !lane.is_probe()) {
            let case = &self.planned.case;
            verdict = verdict.and_then(|()| timing::check_ceiling(stage, lane, case, time));
        }
        if let Some(share) = above.filter(|share| !lane.is_probe() && share.mean - share.half > PILOT_ERROR) {
            let why = format!(
                "is {:.1} % ± {:.1} of its limit: faster than the hardware's own probe",
                100.0 * share.mean.exp(),
                100.0 * share.half
            );
            verdict = verdict.and(Err(Failure::new(Status::Suspect, why)));
        }
        if let Err(failure) = verdict {
            lane.fail(stage, failure.seen_in(&place));
        }
    }

    /// What the record says of a lane's rounds.
    pub fn rounds_of(&self, index: usize, delta: f64) -> Option<Rounds> {
        let lane = &self.lanes[index];
        let (alpha, ended) = lane.ended.filter(|_| lane.is_live())?;
        let sets = lane.to_hub.len();
        Some(Rounds {
            hub: self.lanes[self.setting.hub].seat.implementation.clone(),
            to_hub: lane.to_hub.clone(),
            limit: self.setting.limit.filter(|(limit, _)| self.lanes[*limit].is_live()).map(|(limit, by)| {
                Limit {
                    probe: self.lanes[limit].seat.implementation.clone(),
                    by,
                    to_hub: self.lanes[limit].to_hub.iter().copied().take(sets).collect(),
                }
            }),
            course: lane.course?,
            alpha,
            delta,
            ended,
        })
    }

    /// Ends what is still open when no further turn is taken.
    pub fn close(&mut self) {
        let hub_failed = !self.lanes[self.setting.hub].is_live();
        for lane in self.lanes.iter_mut().filter(|lane| lane.is_live() && lane.ended.is_none()) {
            let ended = if hub_failed { Ended::HubFailed } else { Ended::Decided };
            let alpha = look(lane.to_hub.len(), true).unwrap_or(1.0);
            lane.ended = Some((alpha, ended));
        }
    }
}

/// One round: each lane with who is visited in its pair, in order. The next round is this one backwards, so that
/// what comes first gains nothing (ABBA). A hub alone is visited alone.
fn pairs(order: &[usize], hub: usize, hub_first: bool) -> Vec<(usize, Vec<usize>)> {
    let alone = order.iter().all(|index| *index == hub);
    let lanes = order.iter().copied().filter(|index| alone || *index != hub);
    let mut pairs: Vec<(usize, Vec<usize>)> =
        lanes.map(|index| (index, if alone { vec![hub] } else { vec![hub, index] })).collect();
    if !hub_first {
        pairs.reverse();
        pairs.iter_mut().for_each(|(_, sides)| sides.reverse());
    }
    pairs
}

/// Tensors in place, warm until two visits agree, its clock held against the conductor's.
fn get_ready(stage: &mut Stage, lane: &mut Lane, instance: &Instance) -> Result<(), Stop> {
    lane.prepare(stage, instance)?;
    let Some((course, speed)) = lane.course.zip(lane.speed) else { return Ok(()) };
    let batch = timing::batch_for(WARM_UP, speed);
    let start = Instant::now();
    let mut last = f64::NAN;
    for _ in 0..MOST_WARM_UPS {
        let now = median(&timing::sample(stage, lane, (0, 1, batch))?).unwrap_or(0.0);
        if (now / last).ln().abs() < AGREE || start.elapsed() > LONGEST_WARM_UP {
            break;
        }
        last = now;
    }
    if is_doubled(lane, course, speed) && !lane.is_probe() {
        let doubling = timing::double(stage, lane, batch_to_double(lane, speed))?;
        lane.doublings.push(doubling);
    }
    timing::rest(stage, lane);
    Ok(())
}

/// Whether a block has the time for a visit of n and one of 2n launches.
fn is_doubled(lane: &Lane, course: Course, speed: Duration) -> bool {
    let launches = 3.0 * f64::from(batch_to_double(lane, speed));
    launches * speed.as_secs_f64() < DOUBLING_SHARE * course.block.0
}

fn batch_to_double(lane: &Lane, speed: Duration) -> u32 {
    timing::batch_for(timing::length_to_double(lane), speed)
}

/// Whether launches are too long to be doubled, and a visit holds nothing but them.
fn speaks_for_itself(lane: &Lane) -> bool {
    lane.course.zip(lane.speed).is_some_and(|(course, speed)| {
        course.warmup == 0 && lane.evidence.output == OutputMode::InPlace && !is_doubled(lane, course, speed)
    })
}

fn shape(course: Option<Course>) -> Shape {
    course.map_or((0, 1, 1), |course| (course.warmup, course.samples, course.batch))
}

fn samples(set: u32, visit: u32, batch: u32, times: Vec<f64>) -> impl Iterator<Item = Sample> {
    times.into_iter().map(move |nanoseconds| Sample { set, visit, batch, nanoseconds })
}

/// How often a lane's process has been taken off its core.
fn switches(stage: &Stage, lane: &Lane) -> Option<u64> {
    stage.session(&lane.seat).and_then(|session| audit::switches(session.pid))
}
