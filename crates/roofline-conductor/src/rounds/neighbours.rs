//! Neighbours in time: in which order lanes are visited, and what a visit is held against.

use super::Contest;
use crate::shape::Shape;
use std::time::Instant;

/// One visit of the turn under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) lane: usize,
    pub(super) shape: Shape,
    /// When it began, and what it found: the time of one launch.
    pub(super) at: Instant,
    pub(super) value: f64,
}

impl Contest<'_> {
    /// ln(time / hub's time) of each visit to a lane. The hub's time is that of the moment of the visit:
    /// between the nearest visits to the hub before and after it, so that an even drift cancels.
    pub(super) fn ratios(&self, index: usize) -> Vec<f64> {
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

    /// Whether any visit to a lane took time, by what it says itself.
    pub(super) fn takes_time(&self, index: usize) -> bool {
        self.log.iter().any(|visit| visit.lane == index && visit.value > 0.0)
    }
}

/// A visit to a lane and one to the hub, side by side, in their order; a hub alone is visited alone.
pub(super) type Pair = Vec<usize>;

/// One round: each lane with its two pairs, hub, row, row, hub. What comes right after itself finds its own data in the
/// caches, and what comes first finds others' there: each side must do so as often as the other, whoever else is visited.
/// The next round goes through the lanes backwards.
pub(super) fn round(order: &[usize], hub: usize, forwards: bool) -> Vec<(usize, [Pair; 2])> {
    let alone = order.iter().all(|index| *index == hub);
    let pairs = |index| if alone { [vec![hub], vec![hub]] } else { [vec![hub, index], vec![index, hub]] };
    let lanes = order.iter().copied().filter(|index| alone || *index != hub);
    let mut lanes: Vec<usize> = lanes.collect();
    if !forwards {
        lanes.reverse();
    }
    lanes.into_iter().map(|index| (index, pairs(index))).collect()
}
