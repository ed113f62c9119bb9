//! Looks at the rows after some sets: which of them end, and what they say then.

use super::{Contest, PATIENCE};
use crate::stage::Options;
use roofline_core::record::{Ended, Limit, Rounds, Sample};
use roofline_core::stats::{Interval, median, t_interval, values_needed};
use roofline_core::units::Seconds;
use roofline_core::verdict::{
    ALPHA, FEWEST_SETS, FLOOR, MOST_SETS, SHARE_PRECISION, SHORTEST_SHARE, Word, look, word,
};
use std::time::Duration;

/// Most sets that a row is said to need to show a difference, and the error probability of each of its two looks.
pub const MOST_SIZED: usize = 400;
const SIZED_ALPHA: f64 = ALPHA / 2.0;

/// What it takes to show a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    pub sets: usize,
    pub time: Duration,
}

impl Contest<'_> {
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
        // Who is doubted twice is refused: the second time there is twice as much to go by.
        if self.lanes[index].doubted.is_some() && sets < 2 * FEWEST_SETS {
            return None;
        }
        let spent = self.lanes.iter().map(|lane| lane.spent).max().filter(|_| index == self.setting.hub);
        let spent = spent.unwrap_or(self.lanes[index].spent);
        let per_set = spent / (sets.max(1) as u32);
        let budget = options.budget.unwrap_or_default();
        let is_beyond = |budgets: u32| sets >= FEWEST_SETS && spent + per_set > budget * budgets;
        let is_spent = is_beyond(1);
        let is_last = sets >= MOST_SETS || is_beyond(PATIENCE) || out_of_time;
        // No time is given that the clocks have not had a chance to doubt.
        if !is_last && !self.clocks_tell(index) {
            return None;
        }
        if let Some(effect) = options.detect.filter(|_| sets >= FEWEST_SETS) {
            return self.end_of_sized(options, index, effect, out_of_time);
        }
        match look(sets, is_last || is_spent) {
            Some(alpha) if self.is_decided(options, index, alpha) => Some((alpha, Ended::Decided)),
            Some(alpha) if sets >= MOST_SETS => Some((alpha, Ended::Looks)),
            Some(alpha) if is_spent => Some((alpha, Ended::Budget)),
            Some(alpha) if out_of_time => Some((alpha, Ended::TotalBudget)),
            // Fewer than six sets say nothing; they are kept for whoever goes on.
            _ => None,
        }
    }

    /// The same where a difference is to show: one look at as many sets as the first of them said, and one at a third
    /// more, for those may have been too calm.
    fn end_of_sized(
        &self,
        options: &Options,
        index: usize,
        effect: f64,
        out_of_time: bool,
    ) -> Option<(f64, Ended)> {
        let (sets, needed) = (self.lanes[index].to_hub.len(), self.needed(index, effect));
        let most = needed + needed.div_ceil(3);
        match self.is_compared(options, index, SIZED_ALPHA) {
            true if sets == needed || sets >= most => Some((SIZED_ALPHA, Ended::Decided)),
            false if sets >= most => Some((SIZED_ALPHA, Ended::Looks)),
            _ if out_of_time => Some((SIZED_ALPHA, Ended::TotalBudget)),
            _ => None,
        }
    }

    /// Whether an interval of `alpha` says all that is asked of a lane: where a run fails by how it compares, no more than
    /// that.
    fn is_decided(&self, options: &Options, index: usize, alpha: f64) -> bool {
        let shared = self.decides(options)
            || self.setting.limit.is_none_or(|(limit, _)| limit == index)
            || self.share(index, alpha).is_none_or(|share| share.half <= SHARE_PRECISION);
        self.is_compared(options, index, alpha) && shared
    }

    /// Whether an interval of `alpha` says how a lane compares with the hub.
    fn is_compared(&self, options: &Options, index: usize, alpha: f64) -> bool {
        let hub = self.setting.hub;
        index == hub
            || self.lanes[hub].is_probe()
            || t_interval(&self.lanes[index].to_hub, alpha)
                .is_some_and(|interval| word(interval, options.delta) != Word::Inconclusive)
    }

    /// How many sets it takes to show a difference, by the first of them. The hub is there for others.
    fn needed(&self, index: usize, effect: f64) -> usize {
        let first = self.lanes[index].to_hub.get(..FEWEST_SETS).filter(|_| index != self.setting.hub);
        let effect = effect.ln_1p() - FLOOR;
        first.and_then(|first| values_needed(first, SIZED_ALPHA, effect, MOST_SIZED)).unwrap_or(FEWEST_SETS)
    }

    /// The most sets that a row still needs to show a difference, and what they will about take; one that is measured anew
    /// begins again.
    pub fn effort(&self, effect: f64) -> Effort {
        let open = (0..self.lanes.len()).filter(|index| self.is_open(*index) && *index != self.setting.hub);
        let to_come = |index: usize| match self.lanes[index].to_hub.len() {
            0 => FEWEST_SETS,
            sets => self.needed(index, effect).saturating_sub(sets),
        };
        let sets = open.map(to_come).max().unwrap_or(0);
        Effort { sets, time: self.took.mul_f64(sets as f64 / f64::from(self.sets.max(1))) }
    }

    /// ln(limit's time / lane's time) with its interval, to be shown; short launches have none.
    fn share(&self, index: usize, alpha: f64) -> Option<Interval> {
        self.median(index).filter(|time| time.0 >= SHORTEST_SHARE)?;
        self.share_of(index, alpha)
    }

    pub(super) fn share_of(&self, index: usize, alpha: f64) -> Option<Interval> {
        let (limit, _) = self.setting.limit.filter(|(limit, _)| self.lanes[*limit].is_live())?;
        // The hub is another beside launches on new values than beside the limit's.
        if self.lanes[index].renews && limit != self.setting.hub {
            return None;
        }
        let own = &self.lanes[index];
        let pairs = self.lanes[limit].to_hub.iter().skip(own.since).zip(&own.to_hub);
        t_interval(&pairs.map(|(limit, own)| limit - own).collect::<Vec<f64>>(), alpha)
    }

    /// Median time of a launch over all samples so far.
    pub(super) fn median(&self, index: usize) -> Option<Seconds> {
        let times: Vec<f64> = self.lanes[index].samples.iter().map(Sample::per_launch).collect();
        median(&times).map(Seconds::from_nanoseconds)
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
                    to_hub: self.lanes[limit].to_hub.iter().copied().skip(lane.since).take(sets).collect(),
                }
            }),
            course: lane.course?,
            alpha,
            delta,
            ended,
            before: lane.before.clone(),
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
