//! A small run of the study: no honest kernel is called wrong, no lower precision passes.

use studies::bench::Bench;
use studies::gate_study::{describe, study};

#[test]
fn fifty_shapes_without_a_false_alarm() {
    let outcome = study(&Bench::new().unwrap(), 50, 11, |_| {}).unwrap();
    // Most operations have several rungs.
    assert!(outcome.honest_rows > outcome.shapes, "{}", describe(&outcome));
    assert!(outcome.false_alarms.is_empty() && outcome.missed.is_empty(), "{}", describe(&outcome));
}
