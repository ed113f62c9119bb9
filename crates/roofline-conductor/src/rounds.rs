//! Rounds: how the rows of a case are measured beside each other on a machine that never holds still.
//!
//! What is compared are neighbours in time. The hub is visited before and after every other row, in
//! the order hub, row, row, hub (ABBA). A *set* is one fresh start of all processes; its value is the median over its pairs of ln(time / hub's time), and the set, not the
//! sample, is what is counted. A case takes one *turn* in each set. After 6, 12 and 24 sets a *look*
//! is taken; rows that are decided drop out.
//!
//! ```text
//! pilot ─► turn ─► look ─► turn ─► … ─► ended
//! ```

mod beside;
mod exams;
mod held;
mod looks;
mod neighbours;
mod past;
#[cfg(test)]
mod tests;

use self::exams::Exams;
pub use self::looks::{Effort, MOST_SIZED};
use self::neighbours::{Pair, Visit, round};
use crate::audit::{self, Usage};
use crate::checks::Check;
use crate::device;
use crate::failure::{Failure, Stop};
use crate::instance::Instance;
use crate::lane::Lane;
use crate::pilot::{self, Setting};
use crate::plan::{PlannedCase, names};
use crate::shape::{Shape, batch_for};
use crate::spent::Part;
use crate::stage::{Options, Seat, Stage};
use crate::sys::process::cpu_time;
use crate::visit::Seen;
use crate::{memo, proof, timing, visit};
use roofline_core::decision::FailOn;
use roofline_core::fill::Fill;
use roofline_core::record::{Ended, Kind, Sample, Status};
use roofline_core::stats::{median, quantile};
use roofline_core::turn::{Account, Taken, Turn};
use roofline_core::verdict::FEWEST_SETS;
use std::time::{Duration, Instant};

/// A set begins with visits of about this length until two in a row agree.
const WARM_UP: Duration = Duration::from_millis(2);
const MOST_WARM_UPS: u32 = 10;
const LONGEST_WARM_UP: Duration = Duration::from_millis(50);
const AGREE: f64 = 0.05;
/// One pair in so many is of twice the launches, unless these are so long that one tells enough.
const DOUBLED: u64 = 2;
/// One in so many of these is of many times the launches, as long as that takes no longer than the longest; and one in
/// each of the first sets.
const MULTIPLIED: u64 = 8;
const LONGEST_DOUBLED: Duration = Duration::from_millis(20);
/// One pair in so many comes after empty visits, and before checks of what is remembered or left out.
const EMPTY: u64 = 6;
const CHECKED: u64 = 8;
/// After one visit in so many it is looked at which threads and processes there are.
const AUDITED: u64 = 8;
/// One pair in so many of a row that is timed on new values is such.
const RENEWED: u64 = 2;
/// So many of the latter in each of the first sets, whatever the lot says: all but the last of content. By then enough is
/// known, and later sets are for the pairs that tell how fast a row is.
const FEWEST_CHECKS: u32 = 3;
/// Launches above this find new values everywhere in every visit: that costs them nothing.
const LONG: Duration = Duration::from_millis(20);
/// Visits to others that a process may work in before it is called to account.
const MOST_DISTURBANCES: u32 = 20;
/// One visit in so many may be disturbed however many there are: such visits are not counted.
const RARE: u32 = 10;
/// Pairs in one set, whatever the block, at least and at most.
const FEWEST_PAIRS: u32 = 6;
const FEWEST_LONG_PAIRS: u32 = 4;
const MOST_PAIRS: u32 = 2000;
/// A pilot may fix a member of a family that is so much slower than the fastest, as a logarithm.
const PILOT_ERROR: f64 = 0.05;
/// Launches of a row that is too slow for six sets.
const SLOW_LAUNCHES: u32 = 3;
/// Six sets may take so many budgets before a row counts as too slow for them; and sets that the clocks need.
const PATIENCE: u32 = 4;

/// The rows of a case, and the probe of its limit, on their way through the sets.
#[derive(Debug)]
pub struct Contest<'p> {
    pub planned: &'p PlannedCase,
    /// The planned rows in their order; the limit's probe last, unless it is one of them.
    pub lanes: Vec<Lane>,
    setting: Setting,
    sets: u32,
    /// Time that the turns of this run have taken.
    took: Duration,
    /// What each lane found in the turn under way, and its visits in their order.
    now: Vec<Found>,
    log: Vec<Visit>,
    exams: Exams,
}

/// What comes of the lanes of a case.
#[derive(Debug)]
pub enum Start<'p> {
    Contest(Contest<'p>),
    /// None of them is left to measure; they say why.
    NothingLeft(Vec<Lane>),
}

/// What a lane has found in the turn under way.
#[derive(Debug, Default)]
struct Found {
    pairs: u32,
    samples: Vec<Sample>,
    visits: u32,
    spent: Duration,
    taken: Taken,
    account: Account,
    /// Whether what its process uses was looked at, and how often what it remembers and leaves out was.
    is_audited: bool,
    checks: u32,
}

impl<'p> Contest<'p> {
    /// Starts a contest of proved lanes; rows too slow for sets are measured at once and end here, unless the run may fail by
    /// them: what became as slow as that is the last to be let through.
    pub fn start(
        stage: &mut Stage,
        planned: &'p PlannedCase,
        mut lanes: Vec<Lane>,
        instance: &mut Instance,
        past: &[Turn],
    ) -> Result<Start<'p>, Stop> {
        let (probes, against) = (past::probes_of(planned, past), planned.against.as_deref());
        let Some(setting) = pilot::fly(stage, &mut lanes, &probes, against, instance)? else {
            return Ok(Start::NothingLeft(lanes));
        };
        let mut contest = Contest::new(planned, lanes, setting);
        if !contest.decides(stage.options) {
            contest.measure_slow_rows(stage, instance)?;
        }
        Ok(Start::Contest(contest))
    }

    fn new(planned: &'p PlannedCase, lanes: Vec<Lane>, setting: Setting) -> Contest<'p> {
        Contest {
            planned,
            now: lanes.iter().map(|_| Found::default()).collect(),
            lanes,
            setting,
            sets: 0,
            took: Duration::ZERO,
            log: Vec::new(),
            exams: Exams::default(),
        }
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
                memo::renew(stage, instance);
                let seen = lane.attempt(stage, &place, |lane, stage| {
                    visit::take_judged(stage, lane, instance, Shape::ONE)
                })?;
                let Some(seen) = seen else { break };
                lane.account.plain.push(seen.clocked());
                lane.samples.extend(samples(0, visit, 1, seen.claimed));
            }
            lane.ended = Some((1.0, Ended::Slow));
        }
        Ok(())
    }

    /// Whether the run may fail by how rows compare with the hub, which was asked for.
    fn decides(&self, options: &Options) -> bool {
        let fails_by_it = matches!(options.fail_on, Some(FailOn::Slower(_) | FailOn::Inconclusive));
        let hub = &self.lanes[self.setting.hub].seat.implementation;
        fails_by_it && self.planned.against.as_deref().is_some_and(|against| names(against, hub))
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

    /// Lanes that take part in the next turn.
    fn order(&self) -> Vec<usize> {
        (0..self.lanes.len()).filter(|index| self.is_open(*index) || self.is_needed(*index)).collect()
    }

    /// Whose processes the next turn needs.
    pub fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.order().into_iter().map(|index| &self.lanes[index].seat)
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
        let start = Instant::now();
        let mut instance = proof::instance(stage, &self.planned.case, &self.lanes)?;
        self.now = self.lanes.iter().map(|_| Found::default()).collect();
        self.log.clear();
        let mut order = self.order();
        if self.sets % 2 == 1 {
            order.reverse();
        }
        let place = self.place();
        for index in &order {
            let start = Instant::now();
            let lane = &mut self.lanes[*index];
            lane.attempt(stage, &place, |lane, stage| get_ready(stage, lane, &mut instance))?;
            self.now[*index].spent += start.elapsed();
        }
        let own: Vec<i32> = order
            .iter()
            .filter_map(|index| stage.session(&self.lanes[*index].seat))
            .map(|own| own.pid)
            .collect();
        let load = audit::Load::now(&own);
        let before: Vec<Option<u64>> =
            order.iter().map(|index| switches(stage, &self.lanes[*index])).collect();
        self.block(stage, &mut instance, &order)?;
        let (ticks, others) = load.since(&own).map_or((None, None), |since| (Some(since.0), since.1));
        for (index, before) in order.iter().zip(before) {
            let now = switches(stage, &self.lanes[*index]);
            let switches = now.zip(before).map(|(now, before)| now.saturating_sub(before));
            self.now[*index].taken = Taken { ticks, others, switches };
        }
        self.examine(stage, &mut instance, &order, start.elapsed())?;
        for index in &order {
            let lane = &mut self.lanes[*index];
            if lane.is_live() {
                lane.attempt(stage, &place, |lane, stage| lane.release(stage))?;
            }
        }
        // As after the proof: what a process does besides answering shows at the latest now.
        for index in &order {
            let lane = &mut self.lanes[*index];
            if lane.is_live() && !lane.is_probe() {
                let case = &self.planned.case;
                lane.attempt(stage, &place, |lane, stage| Ok(timing::check_rest(stage, lane, case)?))?;
            }
        }
        for index in order {
            self.keep(stage, index);
        }
        self.sets += 1;
        self.took += start.elapsed();
        Ok(())
    }

    /// How visits are asked for when a lane's own are meant: the hub is asked as the first row is that is still there.
    fn own_shape(&self, index: usize) -> Shape {
        let others = (0..self.planned.rows.len())
            .filter(|row| *row != index && self.lanes[*row].course.is_some())
            .min_by_key(|row| !self.is_open(*row));
        let asked = others.filter(|_| index == self.setting.hub);
        shape_of(&self.lanes[asked.unwrap_or(index)])
    }

    /// Takes what the turn found of a lane into its account: one value a set, for every lane alike.
    fn keep(&mut self, stage: &mut Stage, index: usize) {
        let takes_time = self.takes_time(index);
        let to_hub = if index == self.setting.hub { Some(0.0) } else { median(&self.ratios(index)) };
        let has_hub = self.lanes[self.setting.hub].is_live();
        let (lane, found) = (&mut self.lanes[index], &self.now[index]);
        lane.spent += found.spent;
        lane.lose(found.taken);
        // Without its hub a turn has found nothing, and that is nobody else's fault.
        if !lane.is_live() || !has_hub {
            return;
        }
        // A turn without a visit that counts says nothing.
        if found.samples.is_empty() {
            return;
        }
        if !takes_time {
            return lane.fail(stage, Failure::new(Status::Suspect, "its visits took no time at all"));
        }
        // Nor does one in which every visit to the hub was disturbed.
        let Some(to_hub) = to_hub else { return };
        lane.to_hub.push(to_hub);
        lane.samples.extend_from_slice(&found.samples);
        lane.account.add(&found.account);
    }

    /// Rounds through the lanes, forwards and backwards, until each has had its block.
    fn block(&mut self, stage: &mut Stage, instance: &mut Instance, order: &[usize]) -> Result<(), Stop> {
        let hub = self.setting.hub;
        let mut paired = vec![Duration::ZERO; self.lanes.len()];
        for turn in 0..MOST_PAIRS / 2 {
            let forwards = (turn + self.sets).is_multiple_of(2);
            let mut lanes = round(order, hub, forwards);
            lanes.retain(|(index, _)| {
                self.lanes[*index].is_live() && !self.had_its_block(*index, paired[*index])
            });
            if lanes.is_empty() {
                break;
            }
            for (index, pairs) in lanes {
                let start = Instant::now();
                for pair in self.within_its_block(index, &pairs, forwards) {
                    self.pair(stage, instance, index, pair)?;
                    if !self.lanes[hub].is_live() {
                        return Ok(());
                    }
                    if !self.lanes[index].is_live() {
                        break;
                    }
                }
                paired[index] += start.elapsed();
                self.now[index].spent += start.elapsed();
            }
        }
        Ok(())
    }

    /// Each order must have had as many pairs, unless one pair alone takes longer than the block.
    fn had_its_block(&self, index: usize, paired: Duration) -> bool {
        let pairs = self.now[index].pairs;
        paired.as_secs_f64() >= self.block_of(index)
            && pairs >= self.fewest_pairs(index)
            && (pairs <= 1 || pairs.is_multiple_of(2))
    }

    /// Of the pairs of a round those that are visited: one where it alone takes longer than the block, and then that
    /// of the other order in the next set.
    fn within_its_block<'a>(&self, index: usize, pairs: &'a [Pair; 2], forwards: bool) -> &'a [Pair] {
        let time = |index: usize| self.lanes[index].speed.unwrap_or_default();
        let pair = time(index) + time(self.setting.hub);
        if self.fewest_pairs(index) > 0 || pair.as_secs_f64() < self.block_of(index) {
            return pairs;
        }
        if forwards { &pairs[..1] } else { &pairs[1..] }
    }

    fn block_of(&self, index: usize) -> f64 {
        self.lanes[index].course.map_or(0.0, |course| course.block.0)
    }

    /// What is said of clocks needs some visits in every set, however few a busy machine or a long launch allow.
    fn fewest_pairs(&self, index: usize) -> u32 {
        let speed = self.lanes[index].speed.unwrap_or_default();
        match speed {
            _ if 20.0 * speed.as_secs_f64() < self.block_of(index) => FEWEST_PAIRS,
            _ if self.can_double(index) => FEWEST_LONG_PAIRS,
            _ => 0,
        }
    }

    /// Whether a lane is in the first sets since it began.
    fn is_new(&self, index: usize) -> bool {
        self.lanes[index].to_hub.len() < FEWEST_SETS
    }

    /// Checks of what is remembered or left out that a lane has in this set at least.
    fn fewest_checks(&self, index: usize) -> u32 {
        if self.is_new(index) { FEWEST_CHECKS } else { 0 }
    }

    /// One visit to a lane and one to the hub, side by side; by lot of twice the launches, and by lot with more
    /// visits before and after it that are nobody's neighbours.
    fn pair(
        &mut self,
        stage: &mut Stage,
        instance: &mut Instance,
        index: usize,
        sides: &[usize],
    ) -> Result<(), Stop> {
        let shape = shape_of(&self.lanes[index]);
        let more = self.more_launches(stage, index, shape);
        let renews = self.lanes[index].renews;
        // Empty visits stand where others do, after as long a pause: whoever wakes up cold answers late.
        let has_none = |side: &usize| self.now[*side].account.empty.is_empty();
        let is_first = sides.iter().any(has_none);
        if is_first || stage.draws.below(EMPTY) == 0 {
            for side in sides {
                self.empty_visit(stage, instance, *side)?;
            }
        }
        // What counts are launches that find new values, one a visit; clocks are held to many, as ever.
        let is_new = renews && (self.now[index].samples.is_empty() || stage.draws.below(RENEWED) == 0);
        for side in sides {
            if is_new && !self.refill(stage, instance, *side)? {
                return Ok(());
            }
            let shape = if is_new { Shape::ONE } else { more };
            if !self.visit(stage, instance, (*side, index), shape, is_new || !renews)? {
                return Ok(());
            }
        }
        self.now[index].pairs += 1;
        for side in sides {
            if stage.draws.below(CHECKED) == 0 || self.now[*side].checks < self.fewest_checks(*side) {
                self.check_more(stage, instance, *side, shape)?;
            }
        }
        Ok(())
    }

    /// Fills the inputs anew; false when the lane worked meanwhile, which nobody asked it to.
    fn refill(&mut self, stage: &mut Stage, instance: &mut Instance, index: usize) -> Result<bool, Stop> {
        let seat = self.lanes[index].seat.clone();
        let spent = |stage: &Stage| stage.session(&seat).and_then(|session| cpu_time(session.pid));
        let before = spent(stage);
        let seed = stage.fresh_seed();
        let _filling = stage.ledger.enter(Part::Filling);
        instance.refill(Fill::Uniform, seed);
        let spent = spent(stage).zip(before).map_or(Duration::ZERO, |(now, then)| now.saturating_sub(then));
        if spent > visit::UNREST {
            self.blame(stage, std::slice::from_ref(&seat))?;
        }
        Ok(spent <= visit::UNREST)
    }

    /// The shape of a pair of visits: by lot the lane's own, that of twice its launches, or that of many.
    ///
    /// Whoever makes visits of different lengths look alike has to hide as much in short ones as in long ones.
    fn more_launches(&self, stage: &mut Stage, index: usize, shape: Shape) -> Shape {
        if !self.can_double(index) || stage.draws.below(DOUBLED) != 0 {
            return shape;
        }
        let hub = self.lanes[self.setting.hub].speed;
        let slower = self.lanes[index].speed.max(hub).unwrap_or_default();
        let is_short = slower * shape.multiplied().launches() <= LONGEST_DOUBLED;
        let has_none = self.now[index].account.many.is_empty() && self.now[index].pairs > 0;
        let is_first = has_none && self.is_new(index);
        let is_many = is_short && (is_first || stage.draws.below(MULTIPLIED) == 0);
        if is_many { shape.multiplied() } else { shape.doubled() }
    }

    /// Whether visits of two launches tell more than one: not where a launch is long, and not where it must be
    /// the first after a flush.
    fn can_double(&self, index: usize) -> bool {
        let hub = &self.lanes[self.setting.hub];
        let slower = self.lanes[index].speed.max(hub.speed).unwrap_or_default();
        slower <= LONGEST_DOUBLED && self.lanes[index].course.is_some_and(|course| course.kind != Kind::Cold)
    }

    /// One visit to a lane in the pair of a row, whose times may count; false when the lane failed. A probe computes
    /// nothing that could be judged.
    fn visit(
        &mut self,
        stage: &mut Stage,
        instance: &mut Instance,
        (index, row): (usize, usize),
        shape: Shape,
        is_counted: bool,
    ) -> Result<bool, Stop> {
        let place = self.place();
        let paired = &self.lanes[row];
        let launches = if index == row { paired.own_launches } else { paired.hub_launches };
        let lane = &mut self.lanes[index];
        let is_audited = !lane.is_probe() && !self.now[index].is_audited;
        if lane.speed.is_some_and(|speed| speed > LONG) {
            memo::renew(stage, instance);
        }
        let case = &self.planned.case;
        let asked = Shape { batch: shape.batch * launches, ..shape };
        let seen = lane.attempt(stage, &place, |lane, stage| {
            let pid = stage.session(&lane.seat).map_or(0, |session| session.pid);
            let before = is_audited.then(|| Usage::of(pid));
            let seen = visit::take(stage, lane, instance, asked)?;
            if let Some(before) = before {
                timing::audit(stage, lane, case, &before, &seen)?;
            }
            // Drawn when the answer is there: who knows when it is looked at behaves then.
            if !lane.is_probe() && stage.draws.below(AUDITED) == 0 {
                timing::check_company(stage, lane, case)?;
            }
            Ok(seen)
        })?;
        let Some(seen) = seen else { return Ok(false) };
        timing::rest(stage, &self.lanes[index]);
        if !seen.disturbed_by.is_empty() {
            self.blame(stage, &seen.disturbed_by)?;
            return Ok(true);
        }
        let is_new = is_counted && self.lanes[row].renews;
        let own = shape_of(&self.lanes[row]);
        let found = &mut self.now[index];
        found.is_audited = true;
        // A hub has as many shapes as rows have: what it says in one of them vouches for no other.
        let (base, account) = match index == row {
            true => (own, &mut found.account),
            false if is_new => (Shape::ONE, found.account.beside(Shape::ONE.key())),
            false => (own, found.account.beside(own.key())),
        };
        let visits = match shape {
            _ if shape == base => &mut account.plain,
            _ if is_new => &mut account.renewed,
            _ if shape == base.doubled() => &mut account.doubled,
            _ => &mut account.many,
        };
        visits.push(seen.clocked());
        found.account.copies.extend(seen.copy_each(case));
        found.visits += 1;
        if !is_counted {
            return Ok(true);
        }
        let Seen { at, claimed, .. } = seen;
        let value = quantile(&claimed, 0.1).map_or(f64::NAN, |time| time / f64::from(asked.batch));
        self.log.push(Visit { lane: index, shape, at, value });
        found.samples.extend(samples(self.sets, found.visits - 1, asked.batch, claimed));
        Ok(true)
    }

    /// Notes that processes worked while others were measured, and ends those that do so again and again.
    fn blame(&mut self, stage: &mut Stage, seats: &[Seat]) -> Result<(), Stop> {
        let place = self.place();
        let visits: u32 = self.lanes.iter().map(|lane| lane.gate.visits).sum();
        let by_host =
            self.lanes.iter().filter(|lane| lane.is_probe()).map(|lane| lane.disturbances).sum::<u32>();
        for lane in self.lanes.iter_mut().filter(|lane| lane.is_live() && seats.contains(&lane.seat)) {
            lane.disturbances += 1;
            timing::rest(stage, lane);
            // Probes are the house's own: what they seem to do between visits is the host's doing, to others too.
            let excused = MOST_DISTURBANCES.max(visits / RARE).max(2 * by_host);
            let is_often = !lane.is_probe() && lane.disturbances > excused;
            if is_often && stage.options.checks.on(Check::Idle) {
                let why = "its process works, and may write, while others are measured";
                lane.fail(stage, Failure::new(Status::Suspect, why).seen_in(&place));
            }
        }
        Ok(())
    }
}

/// Tensors in place, and warm until two visits agree.
fn get_ready(stage: &mut Stage, lane: &mut Lane, instance: &mut Instance) -> Result<(), Stop> {
    lane.prepare(stage, instance)?;
    let Some(speed) = lane.speed else { return Ok(()) };
    // What is queued is recorded the first time that it is asked for: not in a visit that counts.
    let is_queued = device::of(instance.case.device).queue.is_some();
    let own = lane.course.filter(|_| is_queued).map(Shape::from);
    let shape = own.unwrap_or_else(|| Shape::batch(batch_for(WARM_UP, speed)));
    let start = Instant::now();
    let mut last = f64::NAN;
    for _ in 0..MOST_WARM_UPS {
        let now = visit::take(stage, lane, instance, shape)?.per_launch();
        if (now / last).ln().abs() < AGREE || start.elapsed() > LONGEST_WARM_UP {
            break;
        }
        last = now;
    }
    timing::rest(stage, lane);
    Ok(())
}

fn shape_of(lane: &Lane) -> Shape {
    lane.course.map_or(Shape::ONE, Shape::from)
}

fn samples(set: u32, visit: u32, batch: u32, times: Vec<f64>) -> impl Iterator<Item = Sample> {
    times.into_iter().map(move |nanoseconds| Sample { set, visit, batch, nanoseconds })
}

/// How often a lane's process has been taken off its core.
fn switches(stage: &Stage, lane: &Lane) -> Option<u64> {
    stage.session(&lane.seat).and_then(|session| audit::switches(session.pid))
}
