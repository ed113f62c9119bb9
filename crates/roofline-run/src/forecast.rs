//! How long launches and plans will take, roughly, before anything has run.
//!
//! Launches by the work of their case, at speeds of one core of this decade: within a factor of two or three, which is enough to
//! leave out what would take minutes. Plans by their rows, whose proofs and sets take about as long whatever is measured.

use roofline_conductor::plan::{Plan, PlannedCase, PlannedRow};
use roofline_core::case::Case;
use roofline_core::operation::Work;
use std::time::Duration;

/// Launches of a kernel in plain code longer than this are left out of a run that does not name it.
pub const SLOW: Duration = Duration::from_secs(2);
/// The same where a run is to be quick.
pub const SLOW_IF_QUICK: Duration = Duration::from_millis(200);

/// Seconds of one core without vectors, for a step of each kind and for a byte.
const MULTIPLY_ADD: f64 = 1e-9;
const SIMPLE: f64 = 0.6e-9;
const SPECIAL: f64 = 6e-9;
const BYTE: f64 = 0.05e-9;
/// What vectors are worth.
const VECTORS: f64 = 8.0;

/// Launches of a case's own size that a proof takes.
const PROOF: u32 = 25;
/// What a row takes beside its launches: proofs on small shapes and, where it is timed, probes and starts of processes.
const PROVED: Duration = Duration::from_millis(500);
const TIMED: Duration = Duration::from_millis(1500);

/// A launch of the definition, in plain code on one core.
fn plain_launch(case: &Case) -> Duration {
    // What is too large for any memory is too large to count its steps, and is refused.
    if case.footprint().is_none() {
        return Duration::ZERO;
    }
    let Work { multiply_adds, simple, special, read, written } = (case.operation.work)(case);
    let steps = multiply_adds as f64 * MULTIPLY_ADD + simple as f64 * SIMPLE + special as f64 * SPECIAL;
    let bytes = read.0.saturating_add(written.0) as f64 * BYTE;
    Duration::try_from_secs_f64(steps + bytes).unwrap_or(Duration::MAX)
}

/// Whether an implementation of the house is one in plain code: by its name, or because it is the same on several threads.
fn is_plain(planned: &PlannedCase, implementation: &str) -> bool {
    let known = ["cpu/plain", "cpu/three-pass"];
    let is_better = |row: &PlannedRow| {
        let name = row.implementation.as_str();
        name.starts_with("cpu/") && row.lacks.is_none() && !known.contains(&name) && name != PARALLEL
    };
    known.contains(&implementation) || implementation == PARALLEL && !planned.rows.iter().any(is_better)
}

const PARALLEL: &str = "cpu/parallel";

/// Whether a row will be measured at all, as far as that is known before.
fn can_run(planned: &PlannedCase, row: &PlannedRow) -> bool {
    planned.has_device && row.lacks.is_none() && row.requires.admits(&planned.case).is_ok()
}

/// One launch of an implementation.
pub fn launch(planned: &PlannedCase, implementation: &str) -> Duration {
    let plain = plain_launch(&planned.case);
    if is_plain(planned, implementation) { plain } else { plain.div_f64(VECTORS) }
}

/// Whole plans, one after the other; `budget` is the time of one row, and none where nothing is timed.
pub fn plans(plans: &[Plan], budget: Option<Duration>) -> Duration {
    let row = |planned: &PlannedCase, implementation: &str| {
        let launch = launch(planned, implementation);
        let beside = PROVED + if budget.is_some() { TIMED } else { Duration::ZERO };
        beside.saturating_add(budget.unwrap_or_default()).saturating_add(launch.saturating_mul(PROOF))
    };
    let cases = plans.iter().flat_map(|plan| &plan.cases);
    let rows = cases.flat_map(|planned| planned.rows.iter().map(move |one| (planned, one)));
    let rows = rows.filter(|(planned, one)| can_run(planned, one));
    rows.fold(Duration::ZERO, |all, (planned, one)| all.saturating_add(row(planned, &one.implementation)))
}

/// Takes rows out whose launches would take too long, but for implementations that are named; answers with how many.
pub fn leave_out_slow(plan: &mut Plan, longest: Duration, is_named: impl Fn(&str) -> bool) -> usize {
    let before = plan.rows();
    for planned in &mut plan.cases {
        let is_slow = |name: &str| is_plain(planned, name) && launch(planned, name) > longest;
        let slow: Vec<bool> = planned
            .rows
            .iter()
            .map(|row| row.lacks.is_none() && is_slow(&row.implementation) && !is_named(&row.implementation))
            .collect();
        let mut slow = slow.into_iter();
        planned.rows.retain(|_| !slow.next().unwrap_or(false));
    }
    plan.cases.retain(|planned| !planned.rows.is_empty());
    before - plan.rows()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(case: &str, names: &[&str]) -> PlannedCase {
        let row = |name: &&str| PlannedRow {
            implementation: (*name).to_owned(),
            runner: "cpu".to_owned(),
            lacks: None,
            requires: "".parse().unwrap(),
            is_compared: false,
        };
        PlannedCase {
            case: case.parse().unwrap(),
            rows: names.iter().map(row).collect(),
            against: None,
            probes: Vec::new(),
            has_device: true,
        }
    }

    #[test]
    fn launches_are_of_the_right_size() {
        let product = planned("matmul/f32/m=512,n=512,k=512", &["cpu/plain", "cpu/packed"]);
        assert!((0.05..0.5).contains(&launch(&product, "cpu/plain").as_secs_f64()));
        assert!(launch(&product, "cpu/packed") < launch(&product, "cpu/plain"));
        let attention = planned("attention/f32/seq=512,heads=32,dim=128", &["cpu/plain", "cpu/parallel"]);
        assert_eq!(launch(&attention, "cpu/parallel"), launch(&attention, "cpu/plain"));
        let with_others =
            planned("attention/f32/seq=512,heads=32,dim=128", &["cpu/parallel", "torch/eager", "mine/plain"]);
        assert_eq!(
            launch(&with_others, "cpu/parallel"),
            launch(&attention, "cpu/plain"),
            "others are no better rung of it"
        );
        assert!(
            launch(&with_others, "mine/plain") < launch(&attention, "cpu/plain"),
            "nobody knows what a name means elsewhere"
        );
    }

    #[test]
    fn what_takes_too_long_is_left_out_unless_it_is_named() {
        let cases = vec![
            planned("matmul/f32/m=4096,n=4096,k=4096", &["cpu/plain", "cpu/packed"]),
            planned("matmul/f32/m=64,n=64,k=64", &["cpu/plain", "cpu/packed"]),
            planned("attention/f32/seq=4096,heads=32,dim=128", &["cpu/plain", "cpu/parallel"]),
        ];
        let mut all = Plan { cases };
        let mut named = all.clone();
        assert_eq!(leave_out_slow(&mut all, SLOW, |_| false), 3);
        assert_eq!((all.cases.len(), all.rows()), (2, 3));
        assert_eq!(leave_out_slow(&mut named, SLOW, |name| name == "cpu/plain"), 1);
        let most = u64::from(u32::MAX);
        let huge = format!("matmul/f32/m={most},n={most},k={most}");
        let mut huge = Plan { cases: vec![planned(&huge, &["cpu/plain"])] };
        assert_eq!(leave_out_slow(&mut huge, SLOW, |_| false), 0, "it is refused, and says so");
        let [all, named] = [all, named].map(|plan| [plan]);
        assert!(plans(&named, None) > plans(&all, None) + Duration::from_secs(60));
        assert!(plans(&all, Some(SLOW)) > plans(&all, None));
    }
}
