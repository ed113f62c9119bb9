//! Cases that Roofline says no to: a row each, and all is well otherwise.

use crate::scene::{Scene, is_end};

#[track_caller]
fn refused(words: &str, why: &str) {
    let scene = Scene::new();
    let outcome = scene.call_with_store(&format!("run {words} -i cpu/p* --format jsonl")).exits(5);
    assert!(outcome.stderr.contains("nothing was measured: every row"), "{}", outcome.stderr);
    let rows = outcome.rows();
    assert!(rows.len() >= 2, "{}", outcome.stdout);
    for row in &rows {
        assert_eq!(row["status"], "refused", "{row}");
        assert!(row["why"].as_str().unwrap().contains(why), "{row}");
        assert_eq!(row["samples"].as_array().unwrap().len(), 0);
    }
    let stored: Vec<String> = scene.records().into_iter().map(|record| record.id).collect();
    let shown: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(stored, shown, "a refusal is a record");
    let table = scene.call_with_store(&format!("run {words} -i cpu/plain")).exits(5).stdout;
    assert!(table.contains("refused") && is_end(&table, "1 row: 1 refused"), "{table}");
    scene
        .call_with_store(&format!("job {}@cpu/plain --to job", rows[0]["case"].as_str().unwrap()))
        .complains(2, &[why, "hint: "]);
    assert!(!scene.path("job").exists());
}

#[test]
fn no_elements() {
    refused("add/f32/rows=0,cols=5", "has a size of zero");
    refused("matmul/f32/m=4,n=4,k=0", "has a size of zero");
}

#[test]
fn more_than_any_memory() {
    refused("add/f32/rows=4294967295,cols=4294967295", "larger than any memory");
    refused("matmul/f32/m=4294967295,n=4294967295,k=4294967295", "larger than any memory");
}

#[test]
fn more_than_this_memory() {
    refused("add/f32/rows=10000000,cols=1000000", "is the limit");
}

#[test]
fn more_threads_than_cores() {
    refused("add/f32/rows=4,cols=4 --threads 4096", "asks for 4096 threads; ");
}

#[test]
fn a_device_that_is_not_there() {
    let parts = ["there is no device `cuda:0`", "roofline list devices"];
    Scene::new().call_with_store("check add/f32/rows=4,cols=4 --device cuda:0").complains(5, &parts);
}

#[test]
fn the_limit_of_memory_is_the_users() {
    let scene = Scene::new();
    let words = "check add/f32/rows=2048,cols=1024 -i cpu/plain --memory 16MiB --format jsonl";
    let row = scene.call_with_store(words).exits(5).row("cpu/plain");
    assert_eq!(row["status"], "refused", "{row}");
    assert!(row["why"].as_str().unwrap().contains("its tensors take 24"), "{row}");
}

#[test]
fn a_refused_case_costs_no_other() {
    let scene = Scene::new();
    let words = "check add/f32/rows=0,cols=5 add/f32/rows=2,cols=5 add/f64/rows=2,cols=5 -i cpu/vector";
    let outcome = scene.call_with_store(&format!("{words} --format jsonl")).exits(0);
    let statuses: Vec<_> =
        outcome.rows().iter().map(|row| row["status"].as_str().unwrap().to_owned()).collect();
    assert_eq!(statuses, ["refused", "ok", "unsupported"]);
}
