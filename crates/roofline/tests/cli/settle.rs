//! `explain` of an inconclusive row names the command that would settle it, and that command can be given.

use crate::ab::{build, scene};
use crate::scene::Scene;
use roofline_core::record::Record;
use roofline_store::{Filter, Store};

const CASE: &str = "add/f32/rows=64,cols=256";

/// Stores the latest record of a row once more, later, with sets that tell nothing.
fn leave_open(scene: &Scene, implementation: &str) {
    let store = Store::open(scene.store()).unwrap();
    let run = store.latest_run().unwrap().unwrap();
    let filter = Filter { run: Some(run.id.clone()), ..Filter::default() };
    let records = store.records(&filter).unwrap().found;
    let mut record: Record =
        records.into_iter().find(|record| record.implementation == implementation).unwrap();
    (record.id, record.at) = (format!("{}-open", record.id), "2099-01-01T00:00:00Z".to_owned());
    let rounds = record.rounds.as_mut().unwrap();
    rounds.to_hub = (0..6).map(|set| if set % 2 == 0 { 0.2 } else { -0.2 }).collect();
    store.append(&record).unwrap();
}

/// What `explain` says would settle a row.
fn settle(scene: &Scene, implementation: &str) -> String {
    leave_open(scene, implementation);
    let explained = scene.call_with_store(&format!("explain {CASE}@{implementation}")).exits(0).stdout;
    assert!(explained.contains("inconclusive"), "{explained}");
    let line = explained.lines().find_map(|line| line.strip_prefix("settle    "));
    let line = line.unwrap_or_else(|| panic!("{explained}"));
    // A budget that tests have time for.
    let (command, budget) = line.split_once(" --budget ").unwrap();
    assert!(budget.ends_with('s'), "{line}");
    format!("{command} --budget 100ms")
}

#[test]
fn what_would_settle_a_row_can_be_given() {
    let scene = scene();
    build(&scene, "before/mine.so", 1);
    build(&scene, "after/mine.so", 1);
    let measured = |words: &str, implementation: &str| {
        let outcome = scene.call_with_store(&format!("{words} --quick --format jsonl"));
        assert!([0, 3].contains(&outcome.code), "{}", outcome.stderr);
        let command = settle(&scene, implementation);
        let again = scene.shell(&format!("{command} --format jsonl"));
        assert!([0, 3].contains(&again.code), "`{command}`: {}", again.stderr);
        assert_eq!(again.row(implementation)["case"], CASE, "`{command}`");
        command
    };
    let ab = measured(&format!("ab before/mine.so after/mine.so {CASE}"), "new/loop");
    assert!(!ab.contains("--against") && !ab.contains("--quick"), "{ab}");
    let run = format!("run {CASE} --lib after/mine.so -i mine/loop");
    measured(&format!("{run} --against cpu/plain"), "mine/loop");
    scene.call_with_store(&format!("{run} --quick --save kept")).exits(0);
    measured(&format!("{run} --baseline kept"), "mine/loop");
}
