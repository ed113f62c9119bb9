//! `run --resume`: what stands is kept, the rest is measured, and the run ends as if never stopped.

use crate::interrupts::nothing_is_left;
use crate::scene::{Scene, send, start, wait_until};
use roofline_core::record::{Record, Run};
use roofline_core::turn::Turn;
use roofline_store::Store;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const RUN: &str = "run add/f32/rows=3,cols=500 softmax/f32/rows=3,cols=300 --quick --format jsonl";

/// Rows of the built-in implementations, and their probes, by id.
fn by_row(records: &[Record]) -> BTreeMap<String, Record> {
    let rows: BTreeMap<String, Record> =
        records.iter().map(|record| (record.row(), record.clone())).collect();
    assert_eq!(rows.len(), records.len(), "a row was measured twice");
    rows
}

fn sets(record: &Record) -> usize {
    record.rounds.as_ref().map_or(0, |rounds| rounds.to_hub.len())
}

fn turns(scene: &Scene) -> Vec<Turn> {
    let read = || {
        let store = Store::open_read_only(scene.store()).ok()?;
        let run = store.latest_run().ok()??;
        Some(store.turns(&run.id).ok()?.found)
    };
    read().unwrap_or_default()
}

/// How often a run is killed: a few times here, fifty times by hand.
fn kills() -> u64 {
    std::env::var("ROOFLINE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4)
}

#[test]
fn a_killed_run_is_resumed_until_it_is_complete() {
    let scene = Scene::alone();
    let mut stored = BTreeMap::new();
    for kill in 0..kills() {
        let begun = Store::open_read_only(scene.store())
            .is_ok_and(|store| store.latest_run().is_ok_and(|run| run.is_some()));
        let mut child = start(scene.with_store(if begun { "run --resume" } else { RUN }));
        let moment = 100 + RandomState::new().hash_one(kill) % 1700;
        std::thread::sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        nothing_is_left(&scene);
        let now = if scene.store().exists() { by_row(&scene.records()) } else { BTreeMap::new() };
        for (row, record) in &stored {
            assert_eq!(now.get(row), Some(record), "a finished row changed");
        }
        stored = now;
    }
    let outcome = scene.call_with_store("run --resume --format jsonl").exits(0);
    assert!(outcome.stderr.contains("resuming `"), "{}", outcome.stderr);
    let records = by_row(&scene.records());
    let rows: Vec<&Record> =
        records.values().filter(|record| !record.implementation.starts_with("limit/")).collect();
    assert_eq!(rows.len(), 6, "{:?}", records.keys());
    assert!(rows.iter().all(|record| sets(record) >= 6), "every row has its six sets");
    assert!(stored.iter().all(|(row, record)| records[row] == *record), "what stood was measured again");
    assert_eq!(turns(&scene), [], "turns are dropped when their case is done");
    // Nothing is left to do, and nothing is done again.
    let again = scene.call_with_store("run --resume --format jsonl").exits(0);
    assert_eq!(again.rows().len(), records.len());
    assert_eq!(by_row(&scene.records()), records);
}

#[test]
fn sets_that_stand_are_not_taken_again() {
    let scene = Scene::alone();
    let child = start(scene.with_store(&RUN.replace("--quick", "--budget 20s")));
    wait_until("two turns", || turns(&scene).len() >= 2);
    send("-INT", &format!("-{}", child.id()));
    let outcome = crate::scene::Outcome::of(child.wait_with_output()).exits(130);
    assert!(outcome.stderr.contains("`roofline run --resume` goes on"), "{}", outcome.stderr);
    let before = turns(&scene);
    assert!(before.len() >= 2);
    let child = start(scene.with_store("run --resume"));
    wait_until("another turn", || turns(&scene).len() > before.len());
    send("-INT", &format!("-{}", child.id()));
    crate::scene::Outcome::of(child.wait_with_output()).exits(130);
    nothing_is_left(&scene);
    let after = turns(&scene);
    assert_eq!(after[..before.len()], before, "what stood is there as it was");
    let mut sets = BTreeMap::new();
    for turn in &after {
        let set = sets.entry(&turn.case).or_insert(0);
        assert_eq!(turn.set, *set, "a set of {} was taken again", turn.case);
        *set += 1;
    }
}

#[test]
fn a_total_budget_ends_a_run_and_says_what_was_reached() {
    let scene = Scene::alone();
    let outcome = scene.call_with_store(&format!("{RUN} --total-budget 1ms")).exits(5);
    assert!(outcome.stderr.contains("the total budget is spent: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("of 6 rows"), "{}", outcome.stderr);
}

#[test]
fn rows_that_a_total_budget_cut_short_are_finished_by_a_resume() {
    let scene = Scene::alone();
    // Blocks are so long that six sets take longer than the run may.
    let words = "run add/f32/rows=3,cols=500 -i cpu/plain --budget 20s --total-budget 2s";
    let outcome = scene.call_with_store(words).exits(5);
    assert!(outcome.stderr.contains("spent: 0 of 1 rows"), "{}", outcome.stderr);
    assert_eq!(scene.records(), [], "fewer than six sets are no row");
    let before = turns(&scene).len();
    let outcome = scene.call_with_store("run --resume --total-budget 1ms").exits(5);
    assert!(outcome.stderr.contains("spent: 0 of 1 rows"), "{}", outcome.stderr);
    assert_eq!(turns(&scene).len(), before);
    scene.call_with_store("run --resume --format jsonl").exits(0);
    let records = scene.records();
    let row = records.iter().find(|record| record.implementation == "cpu/plain").unwrap();
    assert!(sets(row) >= 6, "{row:?}");
}

#[test]
fn a_run_of_another_machine_is_not_resumed() {
    let scene = Scene::new();
    scene.call_with_store("run add/f32/rows=3,cols=500 -i cpu/plain --quick").exits(0);
    let store = Store::open(scene.store()).unwrap();
    let run = store.latest_run().unwrap().unwrap();
    let elsewhere = Run { id: format!("{}-elsewhere", run.id), machine: serde_json::json!({}), ..run };
    store.append_run(&elsewhere).unwrap();
    drop(store);
    scene.call_with_store("run --resume").complains(2, &["begun on another machine", "hint: "]);
}

#[test]
fn a_run_of_another_build_is_not_resumed() {
    let scene = Scene::new();
    scene.call_with_store("run add/f32/rows=3,cols=500 -i cpu/plain --quick").exits(0);
    let store = Store::open(scene.store()).unwrap();
    let run = store.latest_run().unwrap().unwrap();
    let rebuilt = Run { id: format!("{}-rebuilt", run.id), program: "before".to_owned(), ..run };
    store.append_run(&rebuilt).unwrap();
    drop(store);
    scene.call_with_store("run --resume").complains(2, &["begun by another build of roofline", "hint: "]);
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let scene = Scene::new();
    scene.call_with_store("run --resume").complains(5, &["there is no run to resume", "hint: "]);
    assert!(!scene.store().exists(), "nothing is made to look into");
    // A run that is resumed has its own command line: what would change nothing, or nothing be held to, is refused.
    for words in [
        "add",
        "--axis rows=1",
        "--param eps=1e-5",
        "--device cpu",
        "--cache cold",
        "-i cpu/plain",
        "--lib x.so",
        "--against numpy",
        "--fail-on slower",
        "--save x",
        "--baseline x",
        "--targets",
        "--quick",
        "--budget 1s",
        "--delta 2",
        "--timeout 1s",
        "--seed 1",
        "--sandbox required",
        "--dry-run",
    ] {
        let option = words.split(' ').next().unwrap_or_default();
        let named = if option == "add" { "[SELECT]" } else { option };
        scene
            .call_with_store(&format!("run {words} --resume"))
            .complains(2, &["--resume", "cannot be used with", named]);
    }
    scene.call_with_store("check --seed 1 --resume").complains(2, &["--resume", "cannot be used with"]);
    scene
        .call_with_store("run add/f32/rows=1,cols=9 --against numpy")
        .complains(5, &["no row of `numpy` to compare with", "hint: "]);
}
