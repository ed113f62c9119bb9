//! Visits beside the pairs: they say nothing of how fast a row is, and much of whether to believe it.

use super::{Contest, FEWEST_CHECKS, LONG};
use crate::checks::Check;
use crate::failure::{Failure, Stop};
use crate::gate::{self, Exam};
use crate::instance::Instance;
use crate::lane::Lane;
use crate::shape::Shape;
use crate::stage::Stage;
use crate::visit::Seen;
use crate::{marks, memo, pilot, timing, visit, watch};
use roofline_core::fill::Fill;
use roofline_core::judge::Judgement;
use std::time::{Duration, Instant};

/// How often the conductor looks at the threads of a visit that it does not time.
const LOOK: Duration = Duration::from_micros(200);

/// The whole output is judged at the end of turns, so often that it takes no more than this share of them.
const EXAM_SHARE: f64 = 0.2;

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
        let seen = lane
            .attempt(stage, &place, |lane, stage| visit::converse(stage, lane, Shape::EMPTY, tick, || {}))?;
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
        let can_double = self.can_double(index);
        let place = self.place();
        let (lane, found) = (&mut self.lanes[index], &mut self.now[index]);
        found.checks += 1;
        if !lane.is_live() || lane.is_probe() || lane.speed.is_some_and(|speed| speed > LONG) {
            return Ok(());
        }
        let watched = if shape.timed() > 1 || !can_double { shape } else { shape.doubled() };
        let is_watched = lane.renews
            || found.checks == FEWEST_CHECKS
            || found.checks > FEWEST_CHECKS && stage.draws.below(2) == 0;
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

    /// Whether the whole outputs of a turn are judged: by lot, where that takes long.
    pub(super) fn is_examined(&mut self, stage: &mut Stage, turn: Duration) -> bool {
        let affordable = EXAM_SHARE * turn.as_secs_f64() / self.exam.as_secs_f64().max(1e-9);
        let is_examined = stage.draws.below(1 << 20) as f64 <= affordable * f64::from(1 << 20);
        if affordable < 1.0 {
            let why = "judging whole outputs takes long: it is done in some of the sets";
            self.lanes.iter_mut().for_each(|lane| lane.weaker(Check::JudgedVisits, why));
        }
        is_examined
    }

    /// The last visit of a turn, of whose output all is judged that the gate judges.
    pub(super) fn judge_whole(
        &mut self,
        stage: &mut Stage,
        instance: &mut Instance,
        order: &[usize],
    ) -> Result<(), Stop> {
        let start = Instant::now();
        let fill = self.drawn_family(stage, instance);
        if fill != Fill::Uniform {
            instance.fill(fill, stage.fresh_seed());
        }
        let place = format!("{}, {fill} inputs", self.place());
        let exam = match Exam::new(instance, fill, &mut stage.draws) {
            Ok(exam) => exam,
            Err(failure) => {
                gate::fail_all(stage, &mut self.lanes, &failure.seen_in(&place));
                return Ok(());
            }
        };
        self.exam = start.elapsed();
        let shapes: Vec<Shape> = order.iter().map(|index| self.own_shape(*index)).collect();
        for (index, shape) in order.iter().zip(shapes) {
            let lane = &mut self.lanes[*index];
            let takes = !(lane.condition.finite && fill == Fill::Nonfinite);
            if !lane.is_live() || lane.is_probe() || lane.is_slow() || !takes {
                continue;
            }
            let own = exam.of_lane(lane, &self.planned.case);
            let exam = own.as_ref().unwrap_or(&exam);
            lane.attempt(stage, &place, |lane, stage| {
                let others = stage.clocks_of_others(&lane.seat);
                let mut outcome = judge_once(stage, lane, instance, exam, shape)?;
                let is_wrong =
                    |outcome: &Result<Judgement, Failure>| !matches!(outcome, Ok(found) if found.failed == 0);
                // What another's process may have written is no fault of this one: alone, it is right.
                if is_wrong(&outcome) && !stage.moved(&lane.seat, &others, Duration::ZERO).is_empty() {
                    stage.stop_others(&lane.seat, true);
                    let again = judge_once(stage, lane, instance, exam, shape);
                    stage.stop_others(&lane.seat, false);
                    outcome = again?;
                }
                Ok(lane.settle(outcome?)?)
            })?;
        }
        Ok(())
    }

    /// The family that whole outputs of a turn are judged on: every second time one that is not timed, for kernels that
    /// are right on easy data where they are timed. What is packed stays as it is.
    fn drawn_family(&self, stage: &mut Stage, instance: &Instance) -> Fill {
        let families = self.planned.case.operation.fills_of(&self.planned.case);
        let may_change = stage.options.checks.on(Check::Families) && !instance.has_constants();
        match stage.draws.below(2) {
            0 if may_change => families[stage.draws.below(families.len() as u64) as usize],
            _ => Fill::Uniform,
        }
    }
}

/// One visit whose whole output is judged, and the canaries beside it.
fn judge_once(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &Instance,
    exam: &Exam,
    shape: Shape,
) -> Result<Result<Judgement, Failure>, Stop> {
    let poison = instance.draw_poison(lane.gate.visits as usize, &mut lane.draws);
    if stage.options.checks.on(Check::Poison) {
        instance.poison(&poison);
    }
    pilot::flush_if_cold(instance);
    // A thread that is there for one launch is seen while it works, or never.
    let mut strayed = timing::Strayed::new(stage, lane, &instance.case);
    visit::converse(stage, lane, shape, LOOK, || strayed.look())?;
    strayed.settle()?;
    let judgement = gate::judge_output(stage, instance, exam, &poison, lane.draws.bits());
    Ok(judgement.and_then(|judgement| marks::check_canaries(stage, instance).map(|()| judgement)))
}
