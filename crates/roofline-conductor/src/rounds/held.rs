//! The last word on a lane that ended: what all its visits together say of its times.

use super::{Contest, LONG, PILOT_ERROR, shape_of};
use crate::checks::Check;
use crate::clocks::{self, Doubt, House, Room, Workers};
use crate::device;
use crate::failure::Failure;
use crate::lane::Lane;
use crate::shape::Shape;
use crate::stage::{Options, Stage};
use crate::watch::{self, Verdict};
use crate::{memo, order, timing};
use roofline_core::case::Cache;
use roofline_core::decision;
use roofline_core::record::{Before, Ended, Grade, Sample, Status};
use roofline_core::stats::median;
use roofline_core::turn::Account;
use roofline_core::units::Seconds;
use roofline_core::verdict::{FEWEST_SETS, SHORTEST_SHARE};
use std::iter;

/// Probes measure their own loop too, which takes so many seconds; of launches below a microsecond, what is twice as
/// fast and saves more than that is still too fast.
const TINY_ERROR: f64 = std::f64::consts::LN_2;
const LOOP: f64 = 200e-9;

/// Share of a launch that a claim may lack, for all that the clocks can tell: a row that leaves more room goes on beyond
/// its budget, and in the end says how much is left.
const MOST_ROOM: f64 = 0.15;
/// The same of launches of so many nanoseconds, by all their visits: clocks tell more of them, so that who claims a
/// twentieth less is seen.
const MOST_ROOM_OF_LONG: (f64, f64) = (300e3, 0.045);
/// Half of a launch may be missing: that is no time.
const NO_TIME: f64 = 0.5;

/// Nanoseconds of a launch below which a lie about it can hide in what a visit takes besides.
const SHORT_ALONE: f64 = 1e6;

impl Contest<'_> {
    /// Holds a lane that ended, or a hub that others are about to be compared with, to all that was seen of it.
    ///
    /// What its clocks cast doubt on is measured anew, once; doubted again, it ends. So is, once, what would let the run
    /// fail.
    pub fn conclude(&mut self, stage: &mut Stage, index: usize) {
        // Without a hub nothing is measured any more, and so nothing anew.
        let goes_on = self.lanes[self.setting.hub].is_live();
        if goes_on && self.learns(stage, index) {
            return self.restart(index);
        }
        let verdict = self.clocks(stage, index).and_then(|()| self.limits(stage, index));
        let Err(mut failure) = verdict else { return self.confirm(stage, index) };
        let place = self.place();
        let lane = &mut self.lanes[index];
        let is_slow = lane.ended.is_some_and(|(_, ended)| ended == Ended::Slow);
        match &lane.doubted {
            // Noise may look like a lie once: nothing of the doubted sets is kept, so that nobody gains by them.
            None if failure.status == Status::Suspect && !is_slow && goes_on => {
                lane.doubt(failure.why);
                self.restart(index);
            }
            Some(first) if failure.status == Status::Suspect => {
                failure.why += &format!("; and before it was measured anew: {first}");
                lane.fail(stage, failure.seen_in(&place));
            }
            _ => lane.fail(stage, failure.seen_in(&place)),
        }
    }

    /// Measures a lane anew that would let the run fail, unless no time is left for it.
    fn confirm(&mut self, stage: &Stage, index: usize) {
        let Options { fail_on: Some(what), delta, .. } = *stage.options else { return };
        let is_asked = self.planned.rows.get(index).is_some_and(|row| row.is_compared);
        let is_there = self.lanes[self.setting.hub].is_live();
        if !is_asked || !is_there || !self.decides(stage.options) || self.lanes[index].before.is_some() {
            return;
        }
        let Some(rounds) = self.rounds_of(index, delta) else { return };
        let has_time = matches!(rounds.ended, Ended::Decided | Ended::Looks | Ended::Budget);
        if has_time && decision::calls_for_more(&rounds, what) {
            let spent = Some(Seconds(self.lanes[index].spent.as_secs_f64()));
            self.restart(index);
            self.lanes[index].before = Some(Before { to_hub: rounds.to_hub, alpha: rounds.alpha, spent });
        }
    }

    /// Measures a lane anew; with the hub all that were compared with it, whose sets before were too.
    fn restart(&mut self, index: usize) {
        let is_hub = index == self.setting.hub;
        let since = if is_hub { 0 } else { self.lanes[self.setting.hub].to_hub.len() };
        self.affected_by(index).for_each(|lane| {
            lane.restart(since);
            lane.before.take_if(|_| is_hub);
        });
    }

    /// A lane; of the hub, all that are held against it.
    fn affected_by(&mut self, index: usize) -> impl Iterator<Item = &mut Lane> {
        let is_hub = index == self.setting.hub;
        let lanes = self.lanes.iter_mut().enumerate();
        lanes.filter(move |(own, lane)| *own == index || is_hub && lane.is_live()).map(|(_, lane)| lane)
    }

    /// Whether a lane is quicker on values that it has seen, as kernels are whose branches depend on them.
    fn learns(&mut self, stage: &Stage, index: usize) -> bool {
        let lane = &mut self.lanes[index];
        let (memory, verdict) = memo::verdict(&lane.account.memos);
        let learns = verdict == memo::Verdict::Learns
            && lane.is_live()
            && !lane.renews
            && stage.options.checks.on(Check::Memos);
        if learns {
            lane.evidence.memory_of_content = memory;
            let slower = 100.0 * memory.unwrap_or(0.0);
            lane.renew(&format!("in every launch that counts: {slower:.0} % longer where a few are new"));
        }
        learns
    }

    /// Holds the hub to its clocks before a row is recorded that was compared with it.
    pub fn conclude_hub(&mut self, stage: &mut Stage) {
        self.conclude(stage, self.setting.hub);
    }

    /// Who works in the launches of a lane, by all its visits.
    fn workers(&self, index: usize) -> Workers {
        if !device::of(self.planned.case.device).works_in_process {
            return Workers::Device;
        }
        let Lane { account, evidence, .. } = &self.lanes[index];
        let accounts = iter::once(account).chain(account.beside.iter().map(|beside| &beside.account));
        let visits = accounts.flat_map(|account| [&account.plain, &account.doubled, &account.many]).flatten();
        Workers::of(evidence.threads, visits)
    }

    /// Whether a lie of some size about a lane's launches would have shown by now, where more visits could show it.
    pub fn clocks_tell(&self, index: usize) -> bool {
        let lane = &self.lanes[index];
        let tells = |room: Room| {
            let most = most_room(lane, room);
            room.now <= MOST_ROOM && room.in_all <= most || room.at_best > MOST_ROOM
        };
        lane.is_probe() || !self.can_double(index) || self.room(index).is_some_and(tells)
    }

    /// The room that the clocks leave to a lane.
    fn room(&self, index: usize) -> Option<Room> {
        let own = self.own_shape(index);
        self.by_shape(index)
            .iter()
            .find(|(shape, _)| *shape == own)
            .and_then(|visits| self.room_of(index, visits))
    }

    fn room_of(&self, index: usize, (shape, account): &(Shape, Account)) -> Option<Room> {
        clocks::room(account, *shape, self.workers(index), self.lanes[index].evidence.output)
    }

    /// The visits of a lane, apart for each shape that they were asked for in: a hub has those of the rows beside it.
    fn by_shape(&self, index: usize) -> Vec<(Shape, Account)> {
        let account = &self.lanes[index].account;
        let own = (shape_of(&self.lanes[index]), account.clone());
        let beside = account.beside.iter().map(|beside| {
            let empty = account.empty.clone();
            (Shape::from(beside.shape), Account { empty, ..beside.account.clone() })
        });
        iter::once(own).chain(beside).filter(|(_, account)| !account.plain.is_empty()).collect()
    }

    /// The probe of the limit as the visits of a lane meet it: its empty visits, and those that are asked for alike.
    fn house_of(&self, index: usize) -> Account {
        let Some((limit, _)) = self.setting.limit else { return Account::default() };
        let account = &self.lanes[limit].account;
        let key = shape_of(&self.lanes[index]).key();
        let alike = account.beside.iter().find(|beside| beside.shape == key);
        let plain = alike.map_or(&account.plain, |beside| &beside.account.plain);
        Account { empty: account.empty.clone(), plain: plain.clone(), ..Account::default() }
    }

    /// Clocks, copies, memory of content, batches.
    fn clocks(&mut self, stage: &Stage, index: usize) -> Result<(), Failure> {
        let (workers, shapes) = (self.workers(index), self.by_shape(index));
        let rooms: Vec<Option<Room>> = shapes.iter().map(|visits| self.room_of(index, visits)).collect();
        let (own_shape, probe) = (self.own_shape(index), self.house_of(index));
        let house = House { empty: &probe.empty, visits: &probe.plain };
        let lane = &mut self.lanes[index];
        if !lane.is_live() || lane.is_probe() || shapes.is_empty() {
            return Ok(());
        }
        lane.forget_standings();
        let suspect = |why: String| Failure::new(Status::Suspect, why);
        let on = |check| stage.options.checks.on(check);
        // Wrong outranks suspect.
        let watched = watch::verdict(&lane.account.watched);
        lane.evidence.watched = watched.share();
        if let Verdict::LeftOut(share) = watched
            && on(Check::WatchedBatch)
        {
            let seen = 100.0 * share;
            let why =
                format!("only {seen:.0} % of the launches in its visits were seen to write the right output");
            return Err(Failure::new(Status::Wrong, why));
        }
        let in_process = device::of(self.planned.case.device).works_in_process;
        let case = &self.planned.case;
        let bytes = (case.operation.tensors)(case).iter().map(|tensor| tensor.bytes()).sum();
        let habits = lane.habits;
        if on(Check::WatchedBatch)
            && let Err(why) = order::hold(&lane.samples)
        {
            return Err(suspect(why));
        }
        let mut held = Vec::new();
        for (shape, account) in &shapes {
            if let Err(why) = clocks::hold_growth(account, workers, bytes, shape.batch)
                && on(Check::WatchedBatch)
            {
                return Err(suspect(why));
            }
            if let Err(why) = clocks::hold_claims(account, workers, lane.evidence.output)
                && on(Check::WallClock)
            {
                return Err(suspect(why));
            }
            match clocks::hold(account, *shape, in_process.then_some((habits, house)), workers) {
                Ok(shown) => held.push(shown),
                Err(Doubt::Slope(why)) if on(Check::WallClock) => return Err(suspect(why)),
                Err(Doubt::Constant(why)) if on(Check::Unclaimed) => return Err(suspect(why)),
                Err(_) => {}
            }
        }
        // Of several shapes the record shows the first; it says so where all of them are believed.
        if held.len() == shapes.len() {
            lane.evidence.grade = Grade::Corroborated;
            lane.evidence.wall_per_launch = held[0].wall;
            lane.evidence.cpu_per_launch = held[0].cpu;
            if let Err(why) = tell_room(lane, &rooms, workers)
                && on(Check::WallClock)
            {
                return Err(suspect(why));
            }
        }
        if !in_process {
            lane.weaker(Check::Unclaimed, "what a driver takes beside its launches has no usual length");
            lane.not_applicable(Check::Copies, "tensors stay on the device");
        } else if lane.account.copies.is_empty() {
            lane.not_applicable(Check::Copies, "nothing is copied");
        } else {
            let case = &self.planned.case;
            let slack = if case.is_restored() { habits.restore } else { habits.copy };
            match clocks::hold_copies(&lane.account, clocks::time_to_copy(case), slack) {
                Err(why) if on(Check::Copies) => return Err(suspect(why)),
                Ok(Some(why)) => lane.weaker(Check::Copies, why),
                _ => {}
            }
        }
        // On values that it has not seen it is as much slower as it was seen to be.
        let times: Vec<f64> = lane.samples.iter().map(Sample::per_launch).collect();
        let seen: Vec<f64> = lane.account.plain.iter().map(|visit| visit.claimed * 1e9).collect();
        if lane.renews && on(Check::WallClock) {
            memo::hold_new(&times, &seen, own_shape.launches(), lane.evidence.memory_of_content)
                .map_err(suspect)?;
        }
        if lane.renews && median(&times).is_some_and(|time| time < SHORT_ALONE) {
            lane.weaker(
                Check::Unclaimed,
                "a launch on new values stands alone, and is too short to be held by itself",
            );
        }
        let (memory, verdict) = memo::verdict(&lane.account.memos);
        lane.evidence.memory_of_content = memory.or(lane.evidence.memory_of_content);
        if verdict == memo::Verdict::Remembers && on(Check::Memos) {
            let slower = 100.0 * memory.unwrap_or(0.0);
            return Err(suspect(format!(
                "takes {slower:.0} % longer when every row has new values: it remembers what it has seen"
            )));
        }
        let is_short = lane.speed.is_none_or(|speed| speed <= LONG);
        if !in_process {
            lane.weaker(Check::Memos, "values are new between visits of a device, not while one runs");
        } else if !memo::is_conclusive(&lane.account.memos) && is_short && !lane.renews {
            lane.weaker(Check::Memos, "too few visits to see a difference of 5 %");
        }
        match watched {
            // Launches of a cold batch take turns with sets of tensors, one of which is judged by lot.
            _ if !in_process && own_shape.timed() > 1 && case.cache == Cache::Warm => {
                lane.weaker(Check::WatchedBatch, "launches of a batch work on the same tensors");
            }
            Verdict::Nothing if !in_process && own_shape.timed() > 1 => {}
            Verdict::Nothing if own_shape.timed() == 1 => {
                lane.not_applicable(Check::WatchedBatch, "a visit is one launch, and its output is judged");
            }
            Verdict::Nothing => lane.weaker(Check::WatchedBatch, "too few launches could be told apart"),
            Verdict::Scratch(_) => {
                let why = "the output holds other values between launches: not each of them could be seen";
                lane.weaker(Check::WatchedBatch, why);
            }
            Verdict::Held(_) | Verdict::LeftOut(_) => {}
        }
        if lane.turned_fast() {
            let why = "took over a second a launch in the gate, and much less since: the gate was not passed";
            return Err(suspect(why.to_owned()));
        }
        Ok(())
    }

    /// The ceiling of all hardware, and the limit that was measured beside the lane.
    fn limits(&mut self, stage: &Stage, index: usize) -> Result<(), Failure> {
        let lane = &self.lanes[index];
        let Some((alpha, _)) = lane.ended.filter(|_| lane.is_live() && !lane.is_probe()) else {
            return Ok(());
        };
        let Some(time) = self.median(index) else { return Ok(()) };
        timing::check_ceiling(stage, lane, &self.planned.case, time)?;
        let is_apart = lane.renews && self.setting.limit.is_some_and(|(limit, _)| limit != self.setting.hub);
        let is_tiny = time.0 < SHORTEST_SHARE;
        let probe = self.setting.limit.and_then(|(limit, _)| self.median(limit)).map_or(0.0, |probe| probe.0);
        if is_apart {
            let why = "launches on new values have no visits to the limit's probe beside them";
            self.lanes[index].weaker(Check::Ceiling, why);
            return Ok(());
        }
        if probe - time.0 < LOOP {
            return Ok(());
        }
        let tolerated = if is_tiny { TINY_ERROR } else { PILOT_ERROR };
        match self.share_of(index, alpha).filter(|_| lane.to_hub.len() >= FEWEST_SETS) {
            Some(share) if share.mean - share.half > tolerated => Err(Failure::new(
                Status::Suspect,
                format!(
                    "is {:.1} % ± {:.1} of its limit: faster than the hardware's own probe",
                    100.0 * share.mean.exp(),
                    100.0 * share.half
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// The room that all visits of a lane may leave to it: less of long launches, where its clocks can tell so much.
fn most_room(lane: &Lane, room: Room) -> f64 {
    let (long, most) = MOST_ROOM_OF_LONG;
    let times: Vec<f64> = lane.samples.iter().map(Sample::per_launch).collect();
    let is_long = median(&times).is_some_and(|time| time >= long);
    if is_long && room.at_best <= most { most } else { MOST_ROOM }
}

/// Notes the room that the clocks have left to a row, the most of what each shape of its visits leaves; refuses it where
/// none of them leaves a time. What several threads wait for nobody knows, and honest ones would be refused on a busy
/// machine.
fn tell_room(lane: &mut Lane, rooms: &[Option<Room>], workers: Workers) -> Result<(), String> {
    let known = || rooms.iter().flatten().copied();
    let most = known().max_by(|one, other| one.now.total_cmp(&other.now));
    lane.evidence.room = most.map(|room| room.now);
    if known().count() < rooms.len() {
        let why = "launches are too long, too few or too cold for visits of twice as many";
        lane.weaker(Check::WallClock, why);
    }
    let Some(room) = most.filter(|room| room.now > MOST_ROOM || room.in_all > most_room(lane, *room)) else {
        return Ok(());
    };
    let stolen = lane.evidence.steal.filter(|stolen| *stolen > 0.01).map_or_else(String::new, |stolen| {
        format!("; the host took {:.0} % of this machine's time", 100.0 * stolen)
    });
    let more = 100.0 * room.now / (1.0 - room.now);
    let why =
        format!("a launch may take {more:.0} % more than it claims, for all that clocks can tell{stolen}");
    if workers == Workers::One && known().all(|room| room.now > NO_TIME) {
        return Err(why);
    }
    lane.weaker(Check::WallClock, why);
    Ok(())
}
