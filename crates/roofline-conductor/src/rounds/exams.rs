//! Whole outputs, judged at the end of a turn in the processes that were timed.

use super::Contest;
use crate::checks::Check;
use crate::failure::Stop;
use crate::gate::{self, Exam};
use crate::instance::Instance;
use crate::lane::Lane;
use crate::shape::Shape;
use crate::spent::Part;
use crate::stage::Stage;
use crate::{pilot, timing, visit};
use roofline_core::fill::Fill;
use roofline_core::philox::Draws;
use std::time::{Duration, Instant};

/// Exams take about this share of a turn: so many of them at the most, and where one takes longer, one by lot.
const SHARE: f64 = 0.2;
const MOST: f64 = 3.0;

/// How often the conductor looks at the threads of a visit that it does not time.
const LOOK: Duration = Duration::from_micros(200);

/// What is known of the exams of a case.
#[derive(Debug, Default)]
pub(super) struct Exams {
    /// What the last one took.
    took: Duration,
    /// The families that come before any comes again, the next one last.
    deck: Vec<Fill>,
}

impl Exams {
    /// How many there are in a turn of this length, and whether some turns have none.
    fn in_turn(&self, turn: Duration, draws: &mut Draws) -> (usize, bool) {
        let affordable = SHARE * turn.as_secs_f64() / self.took.as_secs_f64().max(1e-9);
        let by_lot = draws.below(1 << 20) as f64 <= affordable * f64::from(1 << 20);
        (if affordable < 1.0 { usize::from(by_lot) } else { affordable.min(MOST) as usize }, affordable < 1.0)
    }

    /// What the outputs of a turn are judged on: the data that is timed, and `others` in a drawn order for kernels that
    /// are right on easy data where they are timed. A single exam is one of the two.
    fn families(&mut self, count: usize, others: &[Fill], draws: &mut Draws) -> Vec<Fill> {
        let mut families = Vec::new();
        if count > 1 || count == 1 && (others.is_empty() || draws.below(2) == 0) {
            families.push(Fill::Uniform);
        }
        while families.len() < count && !others.is_empty() {
            if self.deck.is_empty() {
                self.deck = others.to_vec();
                for last in (1..others.len()).rev() {
                    self.deck.swap(last, draws.below(last as u64 + 1) as usize);
                }
            }
            families.extend(self.deck.pop());
        }
        families
    }
}

impl Contest<'_> {
    /// The last visits of a turn that took so long: of their outputs all is judged that the gate judges.
    pub(super) fn examine(
        &mut self,
        stage: &mut Stage,
        instance: &mut Instance,
        order: &[usize],
        turn: Duration,
    ) -> Result<(), Stop> {
        let (count, by_lot) = self.exams.in_turn(turn, &mut stage.draws);
        if by_lot {
            let why = "judging whole outputs takes long: it is done in some of the sets";
            self.lanes.iter_mut().for_each(|lane| lane.weaker(Check::JudgedVisits, why));
        }
        // What is packed stays as it is.
        let may_change = stage.options.checks.on(Check::Families) && !instance.has_constants();
        let mut others = self.planned.case.operation.fills_of(&self.planned.case);
        others.retain(|fill| may_change && *fill != Fill::Uniform);
        for fill in self.exams.families(count, &others, &mut stage.draws) {
            self.judge_whole(stage, instance, order, fill)?;
        }
        Ok(())
    }

    fn judge_whole(
        &mut self,
        stage: &mut Stage,
        instance: &mut Instance,
        order: &[usize],
        fill: Fill,
    ) -> Result<(), Stop> {
        let start = Instant::now();
        if fill != Fill::Uniform {
            let _filling = stage.ledger.enter(Part::Filling);
            instance.fill(fill, stage.fresh_seed());
        }
        let place = format!("{}, {fill} inputs", self.place());
        let exam = match Exam::new(stage, instance, fill) {
            Ok(exam) => exam,
            Err(failure) => {
                gate::fail_all(stage, &mut self.lanes, &failure.seen_in(&place));
                return Ok(());
            }
        };
        self.exams.took = start.elapsed();
        let shapes: Vec<Shape> = order.iter().map(|index| self.own_shape(*index)).collect();
        for (index, shape) in order.iter().zip(shapes) {
            let lane = &mut self.lanes[*index];
            let takes = !(lane.condition.finite && fill == Fill::Nonfinite);
            if !lane.is_live() || lane.is_probe() || !takes {
                continue;
            }
            if lane.is_slow() {
                lane.weaker(
                    Check::JudgedVisits,
                    "takes over a second a launch: whole outputs are not judged",
                );
                continue;
            }
            let own = exam.of_lane(lane, &self.planned.case);
            let exam = own.as_ref().unwrap_or(&exam);
            lane.attempt(stage, &place, |lane, stage| {
                lane.fairly(stage, |lane, stage| judge_once(stage, lane, instance, exam, shape))
            })?;
        }
        Ok(())
    }
}

/// One visit whose whole output is judged, and the canaries beside it.
fn judge_once(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &Instance,
    exam: &Exam,
    shape: Shape,
) -> Result<(), Stop> {
    let poison = instance.draw_poison(lane.gate.visits as usize, &mut lane.draws);
    if stage.options.checks.on(Check::Poison) {
        instance.poison(&poison);
    }
    pilot::flush_if_cold(instance);
    // A thread that is there for one launch is seen while it works, or never.
    let mut strayed = timing::Strayed::new(stage, lane, &instance.case);
    let seen = visit::converse(stage, lane, shape, LOOK, || strayed.look())?;
    strayed.settle()?;
    let judgement = gate::judge_output(stage, instance, exam, &poison, lane.draws.bits())?;
    gate::check_canaries(stage, instance)?;
    lane.settle(judgement)?;
    Ok(timing::check_cores(stage, lane, &instance.case, &seen)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_comes_before_any_comes_again() {
        let (mut exams, mut draws) = (Exams::default(), Draws::new(7, 1));
        let others: Vec<Fill> = Fill::ALL.iter().copied().filter(|fill| *fill != Fill::Uniform).collect();
        let mut seen: Vec<Fill> = Vec::new();
        for _ in 0..4 {
            let families = exams.families(3, &others, &mut draws);
            assert_eq!((families.len(), families[0]), (3, Fill::Uniform));
            seen.extend(&families[1..]);
        }
        assert!(others.iter().all(|fill| seen.contains(fill)), "{seen:?}");
        assert_eq!(exams.families(3, &[], &mut draws), [Fill::Uniform]);
        let single: Vec<Fill> = (0..40).flat_map(|_| exams.families(1, &others, &mut draws)).collect();
        assert_eq!(single.len(), 40);
        let timed = single.iter().filter(|fill| **fill == Fill::Uniform).count();
        assert!((8..32).contains(&timed), "{timed} of 40");
    }

    #[test]
    fn exams_take_a_fifth_of_a_turn() {
        let mut draws = Draws::new(7, 1);
        let exams = |took| Exams { took: Duration::from_millis(took), deck: Vec::new() };
        let mut in_turn = |took| exams(took).in_turn(Duration::from_millis(100), &mut draws);
        assert_eq!((in_turn(1), in_turn(9), in_turn(18)), ((3, false), (2, false), (1, false)));
        let often: usize = (0..400).map(|_| in_turn(40).0).sum();
        assert!((140..260).contains(&often) && in_turn(40).1, "{often} of 400");
    }
}
