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
}

/// One round: each lane with who is visited in its pair, in order. The next round is this one backwards, so that
/// what comes first gains nothing (ABBA). A hub alone is visited alone.
pub(super) fn pairs(order: &[usize], hub: usize, hub_first: bool) -> Vec<(usize, Vec<usize>)> {
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
