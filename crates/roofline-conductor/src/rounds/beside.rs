//! Visits beside the pairs: they say nothing of how fast a row is, and much of whether to believe it.

use super::{Contest, LONG};
use crate::device;
use crate::failure::Stop;
use crate::instance::Instance;
use crate::shape::Shape;
use crate::stage::Stage;
use crate::visit::Seen;
use crate::{memo, pilot, timing, visit, watch};
use std::time::Duration;

impl Contest<'_> {
    /// A visit without a launch: what the conversation takes, after a flush where the others come after one. That with
    /// a probe is the conversation with a process that can be trusted.
    pub(super) fn empty_visit(
        &mut self,
        stage: &mut Stage,
        instance: &Instance,
        index: usize,
    ) -> Result<(), Stop> {
        let place = self.place();
        let lane = &mut self.lanes[index];
        if !lane.is_live() {
            return Ok(());
        }
        pilot::flush_if_cold(instance);
        let tick = Duration::from_millis(50);
        let seen = lane.attempt(stage, &place, |lane, stage| {
            let seen = visit::converse(stage, lane, Shape::EMPTY, tick, || {})?;
            timing::check_cores(stage, lane, &instance.case, &seen)?;
            Ok(seen)
        })?;
        self.now[index].account.empty.extend(seen.as_ref().map(Seen::clocked));
        Ok(())
    }

    /// By lot: whether a lane remembers what it has seen, or whether each launch of its visits works.
    pub(super) fn check_more(
        &mut self,
        stage: &mut Stage,
        instance: &mut Instance,
        index: usize,
        shape: Shape,
    ) -> Result<(), Stop> {
        let (can_double, fewest) = (self.can_double(index), self.fewest_checks(index));
        let place = self.place();
        let (lane, found) = (&mut self.lanes[index], &mut self.now[index]);
        found.checks += 1;
        if !lane.is_live() || lane.is_probe() || lane.speed.is_some_and(|speed| speed > LONG) {
            return Ok(());
        }
        // While a kernel runs elsewhere the conductor reaches its tensors through the device's own queue.
        if !device::of(instance.case.device).works_in_process {
            return Ok(());
        }
        let watched = if shape.timed() > 1 || !can_double { shape } else { shape.doubled() };
        let is_watched =
            lane.renews || found.checks == fewest || found.checks > fewest && stage.draws.below(2) == 0;
        if is_watched && watched.timed() > 1 {
            let seen =
                lane.attempt(stage, &place, |lane, stage| watch::watch(stage, lane, instance, watched))?;
            found.account.watched.extend(seen.into_iter().flatten());
        } else if !lane.renews {
            let ratio =
                lane.attempt(stage, &place, |lane, stage| memo::pair(stage, lane, instance, shape))?;
            found.account.memos.extend(ratio.flatten());
        }
        timing::rest(stage, &self.lanes[index]);
        Ok(())
    }
}
