//! Turns of a run that was stopped: what is kept of each, and how it is taken up again.

use super::{Contest, Found};
use crate::lane::Lane;
use crate::pilot::Setting;
use crate::plan::{PlannedCase, PlannedRow};
use roofline_core::record::SCHEMA;
use roofline_core::turn::{Measured, Turn};
use roofline_core::units::Seconds;

impl Contest<'_> {
    /// What the last turn found, to be kept until the records are complete.
    pub fn last_turn(&self, run: &str) -> Turn {
        let has_hub = self.lanes[self.setting.hub].is_live();
        let measured = |(lane, found): (&Lane, &Found)| {
            Some(Measured {
                implementation: lane.seat.implementation.clone(),
                runner: lane.seat.runner.clone(),
                course: lane.course?,
                to_hub: lane
                    .to_hub
                    .last()
                    .copied()
                    .filter(|_| lane.is_live() && has_hub && !found.samples.is_empty())?,
                samples: found.samples.clone(),
                account: found.account.clone(),
                spent: Seconds(found.spent.as_secs_f64()),
                taken: found.taken,
                restarts: lane.restarts,
                renews: lane.renews,
                doubted: lane.doubted.clone(),
                before: lane.before.clone(),
            })
        };
        Turn {
            schema: SCHEMA,
            run: run.to_owned(),
            case: self.planned.case.to_string(),
            set: self.sets.saturating_sub(1),
            hub: self.lanes[self.setting.hub].seat.implementation.clone(),
            limit: self.setting.limit.map(|(limit, by)| (self.lanes[limit].seat.implementation.clone(), by)),
            lanes: self.lanes.iter().zip(&self.now).filter_map(measured).collect(),
        }
    }

    /// Takes up turns of a run that was stopped. Those that do not fit what is measured now are left.
    pub fn resume(&mut self, turns: &[Turn]) {
        let mut fitting = None;
        for turn in turns {
            let Some(setting) = self.setting_of(turn) else { continue };
            if *fitting.get_or_insert(setting) != setting {
                continue;
            }
            self.setting = setting;
            self.restart_as_in(turn);
            for measured in &turn.lanes {
                let lane = self.lanes.iter_mut().find(|lane| {
                    lane.seat.implementation == measured.implementation && lane.seat.runner == measured.runner
                });
                let Some(lane) = lane.filter(|lane| lane.is_live() && lane.ended.is_none()) else { continue };
                lane.course = Some(measured.course);
                if measured.renews {
                    lane.renew("in every launch that counts");
                }
                lane.before.clone_from(&measured.before);
                if let Some(why) = measured.doubted.clone() {
                    lane.doubt(why);
                }
                lane.to_hub.push(measured.to_hub);
                lane.samples.extend_from_slice(&measured.samples);
                lane.account.add(&measured.account);
                lane.spent += measured.spent.duration();
                lane.lose(measured.taken);
            }
            self.sets = turn.set.saturating_add(1);
        }
    }

    /// Forgets what the rows that a turn began to measure anew had found before.
    fn restart_as_in(&mut self, turn: &Turn) {
        let restarts = |lane: &Lane| {
            let is_it = |measured: &&Measured| measured.implementation == lane.seat.implementation;
            let measured = turn.lanes.iter().find(is_it)?;
            Some(measured.restarts).filter(|restarts| *restarts > lane.restarts && lane.is_live())
        };
        let hub = &self.lanes[self.setting.hub];
        let since = if restarts(hub).is_some() { 0 } else { hub.to_hub.len() };
        for lane in &mut self.lanes {
            if let Some(restarts) = restarts(lane) {
                lane.restart(since);
                lane.restarts = restarts;
            }
        }
    }

    /// Hub and limit of a turn, where both take part now.
    fn setting_of(&self, turn: &Turn) -> Option<Setting> {
        let index_of = |name: &str| self.lanes.iter().position(|lane| lane.seat.implementation == name);
        let limit = match &turn.limit {
            Some((name, by)) => Some((index_of(name)?, *by)),
            None => None,
        };
        Some(Setting { hub: index_of(&turn.hub)?, limit })
    }
}

/// The probes among which the pilot chooses. Of two that are about as fast it may choose the other one next
/// time, and sets of the one say nothing about the other: whoever goes on keeps the probe of the past.
pub(super) fn probes_of(planned: &PlannedCase, past: &[Turn]) -> Vec<PlannedRow> {
    let fixed = past.first().map(|turn| turn.limit.as_ref().map(|(probe, _)| probe));
    let is_kept = |probe: &&PlannedRow| fixed.is_none_or(|fixed| fixed == Some(&probe.implementation));
    planned.probes.iter().filter(is_kept).cloned().collect()
}
