//! A small part of the study: no honest kernel is called wrong, no lower precision passes.

use studies::bench::Bench;
use studies::gate_study::{cases, lower, take};

/// Of the cases of a round the test takes one in so many.
const PART: usize = 28;

#[test]
fn random_cases_raise_no_false_alarm_and_nothing_lower_passes() {
    let bench = Bench::new().unwrap();
    let cases: Vec<_> = cases(12).into_iter().step_by(PART).collect();
    let (rows, false_alarms) = take(&bench, &bench.offers().unwrap(), &cases, 12).unwrap();
    // Most operations have several rungs.
    assert!(rows > cases.len(), "{rows} rows of {} cases", cases.len());
    assert!(false_alarms.is_empty(), "{false_alarms:#?}");
    let lower = lower(&bench, 11).unwrap();
    assert!(lower.missed.is_empty(), "{:#?}", lower.missed);
}
